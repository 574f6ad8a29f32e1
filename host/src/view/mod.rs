//! The viewer: a page in the browser, served by this program, with the engine behind it.
//!
//! ```text
//!  browser            server (tokio)                  engine's thread
//!  page  --request->  porch: few, for seconds
//!                     server: token, Host, Origin
//!        --commands-> talk: limits     --queue-->     session: pace, pull, reset
//!        <--frames--  one task each    <--slot---     latest state, at most 60/s
//! ```

mod porch;
mod protocol;
mod server;
mod session;
mod stage;
mod talk;

pub use protocol::{Color, Command, FrameHeader, MAX_MESSAGE, Message, Pull, SceneHeader, SolidHeader};
pub use server::Server;
pub use session::{Frame, Refused, Session, Start};
pub use talk::{MAX_CLIENTS, MAX_RATE};
