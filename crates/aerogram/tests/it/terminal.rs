//! A command at a terminal: what it shows, and what somebody types.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };

pub(crate) struct Terminal {
    screen: File,
    child: Child,
    shown: String,
}

impl Terminal {
    /// Starts a command whose input and output are a terminal of its own.
    pub(crate) fn start(mut command: Command) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        tcsetwinsize(&screen, SIZE).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap().into_string().unwrap();
        let open = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        Self { screen: screen.into(), child, shown: String::new() }
    }

    /// Reads until a text is shown.
    pub(crate) fn wait_for(&mut self, text: &str) {
        assert!(self.shows(text), "it ended without '{text}':\n{}", self.shown);
    }

    /// The same; false if it ends without showing the text.
    pub(crate) fn shows(&mut self, text: &str) -> bool {
        while !self.shown.contains(text) {
            if !self.read_some() {
                return false;
            }
        }
        true
    }

    pub(crate) fn types(&mut self, line: &str) {
        self.screen.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Waits for the end. Returns the exit code and everything that was shown.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        while self.read_some() {}
        (self.child.wait().unwrap().code(), self.shown)
    }

    /// Ends a command that does not end by itself. Returns everything that was shown.
    pub(crate) fn stop(mut self) -> String {
        self.child.kill().unwrap();
        while self.read_some() {}
        self.child.wait().unwrap();
        self.shown
    }

    /// False at the end: a terminal that nobody has open any more fails to be read.
    fn read_some(&mut self) -> bool {
        let mut some = [0; 4096];
        match self.screen.read(&mut some) {
            Ok(0) | Err(_) => false,
            Ok(n) => {
                self.shown += &String::from_utf8_lossy(&some[..n]);
                true
            }
        }
    }
}
