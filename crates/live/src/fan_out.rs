//! A new message to everybody who is connected and meant.

use roaring::RoaringBitmap;
use websocket::frame;

use crate::hub::Hub;
use crate::message::Message;

/// Channels written to before others get their turn on the thread.
const SLICE: usize = 128;

impl Hub {
    /// Writes a message to the sockets of its channels, and wakes the readers of other forms. The backlog has it already: what does
    /// not fit into a socket is read from there.
    pub(crate) async fn fan_out(&self, message: &Message, channels: &RoaringBitmap) {
        let meant: Vec<u32> = (&self.lines.lock().connected & channels).iter().collect();
        if meant.is_empty() {
            return;
        }
        let frame = frame::text(&message.json());
        for slice in meant.chunks(SLICE) {
            let lines = self.lines.lock().of_each(slice);
            for line in &lines {
                let is_written = line.socket.as_ref().is_some_and(|socket| socket.offer(message.at, &frame));
                if !is_written {
                    line.wake.notify_one();
                }
            }
            tokio::task::yield_now().await;
        }
    }
}
