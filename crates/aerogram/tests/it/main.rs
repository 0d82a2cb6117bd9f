//! Tests of the whole: the shape of the source tree, and the program from outside.

#[cfg(test)]
mod command_line;
#[cfg(test)]
mod tidy;
