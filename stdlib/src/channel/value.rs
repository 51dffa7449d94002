//! [`ChannelValue`]: an open channel as a value.

use std::any::Any;
use std::sync::Arc;

use base::data::{Data, Entries};
use lang::value::{HostBox, HostObject, Str, Value};

use super::OpenChannel;
use crate::convert::to_value;

/// An open channel as a value.
pub(crate) struct ChannelValue {
    pub(crate) channel: Arc<dyn OpenChannel>,
    /// The session of the script.
    pub(crate) session_id: Arc<str>,
    identity: Data,
}

impl ChannelValue {
    pub(crate) fn value(channel: Arc<dyn OpenChannel>, session_id: Arc<str>) -> Value {
        let identity = channel.identity();
        HostBox::value(ChannelValue { channel, session_id, identity })
    }
}

impl HostObject for ChannelValue {
    fn type_name(&self) -> &'static str {
        "channel_connection"
    }

    fn get(&self, key: &str) -> Option<Value> {
        self.identity.as_dict()?.get(key).map(to_value)
    }

    fn size(&self) -> Option<usize> {
        self.identity.as_dict().map(|identity| identity.keys().count())
    }

    fn keys(&self) -> Vec<Str> {
        let mut keys: Vec<&str> =
            self.identity.as_dict().into_iter().flat_map(Entries::keys).map(AsRef::as_ref).collect();
        keys.sort_unstable();
        keys.into_iter().map(Str::new).collect()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
