//! [`BatchedStream`]: a connection that can leave its writes to a [`WriteBatch`].
//!
//! An event goes to all connections of a session. If each wrote its copy at once, the code of the connection and that of
//! the kernel would alternate, and each would find the caches of the processor filled by the other. In batches, many
//! connections prepare their copies, and then one loop writes them: an event reaches the last of a thousand connections
//! earlier.
//!
//! A flush is complete when the batch has the bytes. If the client does not take them, the batch wakes the task of the
//! connection, which must flush again, as `hyper` does whenever it is woken.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use crate::spawn::spawn_on;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

/// The maximum number of connections that are written in one loop.
const MAX_BATCH: usize = 64;

/// The maximum size of what a connection leaves to a batch, in bytes. More is written without it.
const MAX_PENDING: usize = 8 << 10;

/// The writes of many connections.
#[derive(Debug, Default)]
pub(super) struct WriteBatch(Mutex<WaitingWrites>);

#[derive(Debug, Default)]
struct WaitingWrites {
    writes: Vec<Arc<Mutex<StreamWrites>>>,
    /// Whether a task will write them.
    is_due: bool,
    /// Empty buffers of [`MAX_PENDING`] bytes. They are reused: buffers that are allocated and freed between the
    /// allocations of new connections fragment the heap.
    spare: Vec<Vec<u8>>,
}

/// Tells a connection whether to leave its writes to the batch.
#[derive(Debug, Clone, Default)]
pub(super) struct BatchSwitch(Arc<AtomicBool>);

impl BatchSwitch {
    pub(super) fn set(&self, is_on: bool) {
        self.0.store(is_on, Ordering::Relaxed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection that can leave its writes to a batch.
#[derive(Debug)]
pub(super) struct BatchedStream {
    reads: OwnedReadHalf,
    writes: Arc<Mutex<StreamWrites>>,
    batch: Arc<WriteBatch>,
    switch: BatchSwitch,
}

/// The side of a connection that writes.
#[derive(Debug)]
struct StreamWrites {
    half: OwnedWriteHalf,
    /// The bytes that are not written yet.
    pending: Vec<u8>,
    /// Whether a batch will write them.
    is_batched: bool,
    /// The reason why a batch could not write them, until it is returned.
    failure: Option<io::Error>,
    /// The task of the connection.
    task: Option<Waker>,
}

impl BatchedStream {
    pub(super) fn new(stream: TcpStream, batch: Arc<WriteBatch>, switch: BatchSwitch) -> BatchedStream {
        let (reads, half) = stream.into_split();
        let writes = StreamWrites { half, pending: Vec::new(), is_batched: false, failure: None, task: None };
        BatchedStream { reads, writes: Arc::new(Mutex::new(writes)), batch, switch }
    }
}

/// Locks the writes of a connection. Every operation leaves them consistent.
fn lock(writes: &Mutex<StreamWrites>) -> MutexGuard<'_, StreamWrites> {
    writes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl WriteBatch {
    fn lock(&self) -> MutexGuard<'_, WaitingWrites> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the writes of a connection, and writes all if they are many. The rest is written after the tasks that can run
    /// now, on a runtime with one thread.
    fn add(self: &Arc<WriteBatch>, writes: Arc<Mutex<StreamWrites>>) {
        let mut waiting = self.lock();
        waiting.writes.push(writes);
        if waiting.writes.len() >= MAX_BATCH {
            drop(waiting);
            return self.write();
        }
        if std::mem::replace(&mut waiting.is_due, true) {
            return;
        }
        drop(waiting);
        let batch = self.clone();
        let write = async move {
            batch.lock().is_due = false;
            batch.write();
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(spawn_on(&runtime, write)),
            // Nothing would run the task.
            Err(_) => {
                self.lock().is_due = false;
                self.write();
            }
        }
    }

    fn write(&self) {
        let waiting = std::mem::take(&mut self.lock().writes);
        let mut spare = Vec::with_capacity(waiting.len());
        for writes in waiting {
            spare.extend(lock(&writes).write());
        }
        let mut waiting = self.lock();
        let kept = MAX_BATCH.saturating_sub(waiting.spare.len());
        waiting.spare.extend(spare.into_iter().take(kept));
    }

    /// Returns an empty buffer.
    fn buffer(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_else(|| Vec::with_capacity(MAX_PENDING))
    }
}

impl StreamWrites {
    /// Writes what can be written without waiting, and returns the buffer if that is all. Otherwise the connection's task
    /// is woken.
    fn write(&mut self) -> Option<Vec<u8>> {
        self.is_batched = false;
        while !self.pending.is_empty() {
            match self.half.try_write(&self.pending) {
                Ok(count) if count > 0 => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                failed => {
                    self.failure = Some(failed.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
                    self.pending.clear();
                }
            }
        }
        if (self.failure.is_some() || !self.pending.is_empty())
            && let Some(task) = self.task.take()
        {
            task.wake();
        }
        let is_spare = self.pending.is_empty() && self.pending.capacity() > 0;
        is_spare.then(|| std::mem::take(&mut self.pending))
    }

    /// Writes what is pending, and waits for the client if it must.
    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(failure) = self.failure.take() {
            return Poll::Ready(Err(failure));
        }
        while !self.pending.is_empty() {
            match ready!(Pin::new(&mut self.half).poll_write(cx, &self.pending))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => drop(self.pending.drain(..written)),
            }
        }
        // A connection without writes keeps no memory.
        self.pending = Vec::new();
        Poll::Ready(Ok(()))
    }

    /// Adds bytes to what is pending. Returns whether the connection must be added to the batch.
    fn push(&mut self, bytes: &[IoSlice<'_>], cx: &Context<'_>) -> bool {
        for piece in bytes {
            self.pending.extend_from_slice(piece);
        }
        if !self.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            self.task = Some(cx.waker().clone());
        }
        !std::mem::replace(&mut self.is_batched, true)
    }
}

impl AsyncRead for BatchedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.reads).poll_read(cx, to)
    }
}

impl AsyncWrite for BatchedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let size: usize = bytes.iter().map(|piece| piece.len()).sum();
        let fits = self.switch.is_on() && (1..=MAX_PENDING).contains(&size);
        let mut writes = lock(&self.writes);
        // Bytes that wait for the client are written first, so that they cannot become many.
        if !fits || !writes.is_batched || writes.pending.len() + size > MAX_PENDING {
            ready!(writes.poll_pending(cx))?;
        }
        if !fits {
            return Pin::new(&mut writes.half).poll_write_vectored(cx, bytes);
        }
        if writes.pending.capacity() == 0 {
            writes.pending = self.batch.buffer();
        }
        let is_new = writes.push(bytes, cx);
        drop(writes);
        if is_new {
            self.batch.add(self.writes.clone());
        }
        Poll::Ready(Ok(size))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut writes = lock(&self.writes);
        // The batch writes them, also if this connection is dropped. What a client does not take then is lost if the
        // connection ends: a channel resumes after its cursor.
        if writes.is_batched && self.switch.is_on() {
            return Poll::Ready(Ok(()));
        }
        writes.poll_pending(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut writes = lock(&self.writes);
        ready!(writes.poll_pending(cx))?;
        Pin::new(&mut writes.half).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::super::write_timeout::WriteTimeout;
    use super::*;
    use crate::tokio_wait::{LIMIT, find, others_wait};
    use std::sync::atomic::AtomicUsize;

    /// Returns a connection whose switch is on, and its client.
    async fn connected(batch: &Arc<WriteBatch>) -> (BatchedStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        let switch = BatchSwitch::default();
        switch.set(true);
        (BatchedStream::new(stream, batch.clone(), switch), client)
    }

    #[tokio::test]
    async fn small_writes_wait_for_the_tasks_that_can_run_and_keep_their_order() {
        let batch = Arc::default();
        let (mut stream, mut client) = connected(&batch).await;
        stream.write_all(b"one ").await.unwrap();
        stream.write_all(b"two ").await.unwrap();
        stream.flush().await.unwrap();
        assert_eq!(lock(&stream.writes).pending, b"one two ");
        let mut read = [0; 8];
        client.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"one two ");
        stream.write_all(b"small ").await.unwrap();
        let large = vec![b'x'; MAX_PENDING + 1];
        stream.write_all(&large).await.unwrap();
        let mut read = vec![0; 6 + large.len()];
        client.read_exact(&mut read).await.unwrap();
        assert_eq!(read, [b"small ".to_vec(), large].concat());
    }

    #[tokio::test]
    async fn many_connections_are_written_at_once() {
        let batch = Arc::default();
        let mut all = Vec::new();
        for _ in 0..MAX_BATCH {
            all.push(connected(&batch).await);
        }
        for (number, (stream, _)) in all.iter_mut().enumerate() {
            assert_eq!(batch.lock().writes.len(), number);
            stream.write_all(b"x").now_or_never().expect("it does not wait").unwrap();
        }
        assert!(batch.lock().writes.is_empty());
        for (_, client) in &mut all {
            assert_eq!(client.read_u8().await.unwrap(), b'x');
        }
    }

    #[tokio::test]
    async fn the_end_of_a_connection_loses_nothing() {
        for is_shut_down in [true, false] {
            let (mut stream, mut client) = connected(&Arc::default()).await;
            stream.write_all(b"last words").await.unwrap();
            if is_shut_down {
                stream.shutdown().await.unwrap();
            }
            drop(stream);
            let mut read = String::new();
            client.read_to_string(&mut read).await.unwrap();
            assert_eq!(read, "last words", "after a shutdown: {is_shut_down}");
        }
    }

    #[tokio::test]
    async fn a_flush_writes_what_is_pending_once_the_switch_is_off() {
        let (mut stream, mut client) = connected(&Arc::default()).await;
        stream.write_all(b"event").await.unwrap();
        stream.switch.set(false);
        stream.flush().now_or_never().expect("it does not wait").unwrap();
        assert!(lock(&stream.writes).pending.is_empty());
        let mut read = [0; 5];
        client.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"event");
    }

    #[tokio::test]
    async fn a_client_that_never_reads_is_given_up() {
        let (stream, _client) = connected(&Arc::default()).await;
        let mut stream = WriteTimeout::new(stream, std::time::Duration::from_millis(50));
        let fails = async {
            loop {
                // The batch writes in between, so that a flush may be the first to wait.
                tokio::task::yield_now().await;
                stream.flush().await?;
                stream.write_all(&[b'x'; 1_000]).await?;
            }
        };
        let failed: io::Result<()> = tokio::time::timeout(LIMIT, fails).await.expect("it is given up");
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_waited_for_with_bounded_memory_and_loses_nothing() {
        const COUNT: usize = 20_000;
        let (mut stream, mut client) = connected(&Arc::default()).await;
        let piece = |number: usize| [u8::try_from(number % 251).unwrap(); 1_000];
        let (mut looks, written) = (0, Arc::new(AtomicUsize::new(0)));
        let count = written.clone();
        let writes = tokio::spawn(async move {
            for number in 0..COUNT {
                stream.write_all(&piece(number)).await.unwrap();
                assert!(lock(&stream.writes).pending.len() <= MAX_PENDING);
                count.store(number, Ordering::Relaxed);
                // Lets the batch write.
                tokio::task::yield_now().await;
            }
        });
        find("a writer that waits", async || {
            let before = written.load(Ordering::Relaxed);
            others_wait().await;
            let is_still = before > 0 && written.load(Ordering::Relaxed) == before;
            looks = if is_still { looks + 1 } else { 0 };
            if looks == 20 { Ok(()) } else { Err(before.to_string()) }
        })
        .await;
        assert!(!writes.is_finished(), "the client has read nothing");
        let mut read = [0; 1_000];
        for number in 0..COUNT {
            client.read_exact(&mut read).await.unwrap();
            assert_eq!(read, piece(number));
        }
        writes.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_learns_that_its_client_is_gone() {
        let (mut stream, client) = connected(&Arc::default()).await;
        client.set_zero_linger().unwrap();
        drop(client);
        let fails = async {
            while stream.write_all(b"x").await.is_ok() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(LIMIT, fails).await.expect("a write fails");
    }
}
