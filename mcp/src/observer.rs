//! The traits by which a caller takes part in what a server does.

use std::sync::Arc;

use base::call::LocalFuture;
use base::data::Data;

/// A receiver of what a server sends by itself. It ignores methods that it does not know.
pub trait Listener {
    /// Takes a notification. It must return soon: nothing else of the server is read meanwhile.
    fn notified(&self, method: &str, params: &Data);
}

/// The caller of a request, while it waits.
pub trait CallObserver {
    /// Takes a report of progress.
    fn progress<'a>(&'a self, _progress: &'a Progress) -> LocalFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Answers a question of the server to the user.
    fn elicit<'a>(&'a self, question: &'a Elicitation) -> LocalFuture<'a, ElicitationReply>;
}

/// The progress of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Grows with each report.
    pub progress: f64,
    /// The value at which it is done, if it is known.
    pub total: Option<f64>,
    /// A description for the user.
    pub message: Option<Arc<str>>,
}

/// A question of a server to the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Elicitation {
    /// The name of the server.
    pub server: Arc<str>,
    /// The question.
    pub message: Arc<str>,
    /// JSON Schema of the answer, a flat object; nil if there is none.
    pub schema: Data,
    /// The page that the user is to visit, in place of a form.
    pub url: Option<Arc<str>>,
}

/// The answer to an [`Elicitation`].
#[derive(Debug, Clone, PartialEq)]
pub enum ElicitationReply {
    /// The user filled in the form.
    Accept(Data),
    /// The user said no.
    Decline,
    /// There was no answer.
    Cancel,
}

impl ElicitationReply {
    /// Returns the result as the protocol has it.
    pub(crate) fn to_data(&self) -> Data {
        match self {
            ElicitationReply::Accept(content) => {
                Data::dict_of_present([("action", Data::from("accept")), ("content", content.clone())])
            }
            ElicitationReply::Decline => Data::dict([("action", Data::from("decline"))]),
            ElicitationReply::Cancel => Data::dict([("action", Data::from("cancel"))]),
        }
    }
}

/// An observer without a user.
pub struct SilentObserver;

impl CallObserver for SilentObserver {
    fn elicit<'a>(&'a self, _: &'a Elicitation) -> LocalFuture<'a, ElicitationReply> {
        Box::pin(std::future::ready(ElicitationReply::Cancel))
    }
}
