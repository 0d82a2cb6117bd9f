//! Problems of an input: one per place, all of them collected.

use std::fmt;

/// One thing a caller can fix: where it is and a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Dotted path into the body, such as `notification.ios.badge` or `[2].audience.and[0].tag`; empty for the body itself.
    pub path: String,
    pub message: String,
    pub kind: ProblemKind,
}

/// Which public error code a problem belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The value is there but cannot be used.
    Invalid,
    /// A required key is not there.
    Missing,
}

/// All the problems of one input, in the order they were found; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub fn one(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self(vec![Problem { path: path.into(), message: message.into(), kind: ProblemKind::Invalid }])
    }

    /// `None` when there are no problems, so that an empty list cannot be mistaken for an error.
    pub fn from_vec(problems: Vec<Problem>) -> Option<Self> {
        (!problems.is_empty()).then_some(Self(problems))
    }

    pub fn first(&self) -> &Problem {
        &self.0[0]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            match problem.path.as_str() {
                "" => write!(f, "{separator}{}", problem.message)?,
                path => write!(f, "{separator}{path}: {}", problem.message)?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
