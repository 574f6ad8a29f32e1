//! The viewer: a page in the browser, served by this program, with the engine behind it.
//!
//! ```text
//!  browser            server (tokio)             engine's thread
//!  page  --commands-> checks, limits --queue-->  session: pace, pull, reset
//!        <--frames--  one task each  <--slot---  latest state, at most 60/s
//! ```

mod protocol;
mod server;
mod session;
mod stage;

pub use protocol::{Color, Command, FrameHeader, MAX_MESSAGE, Message, Pull, SceneHeader, SolidHeader};
pub use server::{MAX_CLIENTS, MAX_RATE, Server};
pub use session::{Frame, Session, Start};
