//! [`GatewayLog`]: the log of a gateway.

use eventlog::{Log, LogError, Query, Record, SharedLog};

/// The number of records that are read at a time.
const PAGE: usize = 1_000;

/// A log that is read forward by subject and topic, and that records are appended to without conditions. Every backend is
/// one.
pub(crate) trait GatewayLog: Log + SharedLog {}

impl<T: Log + SharedLog> GatewayLog for T {}

/// Returns the cursor of the last record of a log.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn head(log: &dyn GatewayLog) -> Result<u64, LogError> {
    Ok(log.read(Query::default(), 0).await?.head)
}

/// Visits the records of a query that the log still has, in order. Returns the cursor up to which it has visited them.
///
/// # Errors
/// The log cannot be read.
pub(crate) async fn each(
    log: &dyn GatewayLog,
    mut query: Query,
    mut visit: impl FnMut(&Record),
) -> Result<u64, LogError> {
    loop {
        let page = log.read(query.clone(), PAGE).await?;
        page.records.iter().for_each(|record| visit(record));
        match page.records.last() {
            Some(last) if page.records.len() == PAGE => query.after = last.cursor,
            _ => return Ok(page.head),
        }
    }
}
