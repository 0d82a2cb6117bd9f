//! What can go wrong for a page, and what the person is told.

use http::StatusCode;
use model::problem::Problems;

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
pub(crate) enum Error {
    /// Nobody is logged in.
    NotSignedIn,
    /// The person may not see or do this.
    NotAllowed(String),
    NotFound(String),
    /// What was typed cannot be used: where, and a sentence each.
    Invalid(Vec<(String, String)>),
    /// Refused for another reason that a sentence tells.
    Refused {
        status: StatusCode,
        sentence: String,
    },
    /// Refused for now.
    Later {
        status: StatusCode,
        sentence: String,
        /// After which it may work.
        seconds: u64,
    },
    /// Our fault, which is logged where it happens.
    Internal,
}

impl Error {
    pub(crate) fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!(%error, "a page of the console failed");
        Self::Internal
    }

    pub(crate) fn invalid(field: &str, sentence: &str) -> Self {
        Self::Invalid(vec![(field.to_owned(), sentence.to_owned())])
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Error::NotSignedIn => StatusCode::UNAUTHORIZED,
            Error::NotAllowed(_) => StatusCode::FORBIDDEN,
            Error::NotFound(_) => StatusCode::NOT_FOUND,
            Error::Invalid(_) => StatusCode::BAD_REQUEST,
            Error::Refused { status, .. } | Error::Later { status, .. } => *status,
            Error::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// After how many seconds it is worth another try.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        if let Error::Later { seconds, .. } = self { Some(*seconds) } else { None }
    }

    /// A sentence for each thing that is wrong.
    pub(crate) fn sentences(&self) -> Vec<String> {
        match self {
            Error::NotSignedIn => vec!["Log in to see this page.".to_owned()],
            Error::NotAllowed(sentence)
            | Error::NotFound(sentence)
            | Error::Refused { sentence, .. }
            | Error::Later { sentence, .. } => vec![sentence.clone()],
            Error::Invalid(problems) => problems.iter().map(|(_, sentence)| sentence.clone()).collect(),
            Error::Internal => {
                vec![
                    "Something went wrong on our side. The id below finds the cause in the log of the service."
                        .to_owned(),
                ]
            }
        }
    }

    /// The sentence about one field of a form, without the name of the field, which it stands below.
    pub(crate) fn about(&self, field: &str) -> Option<&str> {
        let Error::Invalid(problems) = self else { return None };
        let (path, sentence) = problems.iter().find(|(path, _)| path == field)?;
        let bare = sentence.strip_prefix(path.as_str()).and_then(|rest| rest.strip_prefix(": "));
        Some(bare.unwrap_or(sentence))
    }
}

impl From<engine::Error> for Error {
    fn from(error: engine::Error) -> Self {
        match error {
            engine::Error::Invalid(problems) => Self::Invalid(of_problems(&problems)),
            engine::Error::NotFound(what) => Self::NotFound(format!("There is no such {what}.")),
            engine::Error::AppGone => Self::NotFound("This app was deleted.".to_owned()),
            engine::Error::Conflict(sentence) => Self::Refused { status: StatusCode::CONFLICT, sentence },
            engine::Error::Forbidden(sentence) => Self::NotAllowed(sentence),
            engine::Error::TooMany { text, retry_after } => {
                let seconds = retry_after.as_secs() + u64::from(retry_after.subsec_nanos() > 0);
                let sentence = format!("{text} It may be made in {seconds} s.");
                Self::Later { status: StatusCode::TOO_MANY_REQUESTS, sentence, seconds }
            }
            engine::Error::Unavailable(_) => {
                let sentence = "The database cannot be reached right now; try again in a moment.".to_owned();
                Self::Later { status: StatusCode::SERVICE_UNAVAILABLE, sentence, seconds: 1 }
            }
            engine::Error::LeaseLost | engine::Error::Internal(_) => Self::internal(error),
        }
    }
}

fn of_problems(problems: &Problems) -> Vec<(String, String)> {
    problems.iter().map(|problem| (problem.path.clone(), problem.message.clone())).collect()
}
