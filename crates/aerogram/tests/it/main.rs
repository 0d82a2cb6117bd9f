//! Tests of the whole: the shape of the source tree, and the program from outside.

mod command_line;
mod tidy;
