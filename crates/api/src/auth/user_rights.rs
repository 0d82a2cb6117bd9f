//! What a caller may say about named users: by its credentials, by the rules of the app, and by a proof that it brings.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use model::app::{UserAspect, UserRule};
use model::channel::Change;
use model::contact::ContactUpdate;
use model::ids::{ChannelId, NamedUserId};
use tenancy::{App, ProofRefusal, Rights, UserProof};

use super::calling::calling;
use crate::edge::Edge;
use crate::error::{Error, Result};

/// The header with a token that a server of the app has signed for the user of a device.
const PROOF: &str = "x-ua-named-user-proof";

pub(crate) struct UserRights {
    app: Arc<App>,
    rights: Rights,
    proof: Option<UserProof>,
}

impl UserRights {
    /// For changes of what a named user has.
    pub(crate) fn need(&self, aspect: UserAspect, user: &NamedUserId) -> Result<()> {
        let is_proven = self.proof.as_ref().is_some_and(|proof| proof.user == *user && proof.channel.is_none());
        self.allow(aspect, is_proven)
    }

    /// For giving a channel to a user.
    pub(crate) fn need_association(&self, channel: ChannelId, user: &NamedUserId) -> Result<()> {
        self.allow(UserAspect::Associate, self.proves(Some(channel), user))
    }

    /// For taking a channel from a user, if one is named. A device that speaks for the channel may leave: it gains nothing, and
    /// its next owner must not get what is meant for the last. Who knows the id of a channel is taken for its device.
    pub(crate) fn need_leave(&self, channel: ChannelId, user: Option<&NamedUserId>) -> Result<()> {
        let is_own = match self.rights {
            Rights::Channel(own) => own == channel,
            // The path names the contact, and only its channels leave it.
            Rights::Contact(_) | Rights::Device => true,
            Rights::Master | Rights::KeyOnly => user.is_some_and(|user| self.proves(Some(channel), user)),
        };
        self.allow(UserAspect::Associate, is_own)
    }

    /// For a device that names the contact it had: the id proves it, as only devices of the contact were told.
    pub(crate) fn may_return(&self) -> bool {
        self.allow(UserAspect::Associate, true).is_ok()
    }

    /// For changes of a contact that may be a named user: why they are refused then. A token of the contact is a proof.
    pub(crate) fn refusal_for_contact(&self, update: &ContactUpdate) -> Option<String> {
        let ContactUpdate { tags, attributes, subscriptions, associate } = update;
        let asked = [
            (UserAspect::Tags, !tags.is_empty()),
            (UserAspect::Attributes, !attributes.is_empty()),
            (UserAspect::Subscriptions, !subscriptions.is_empty()),
            (UserAspect::Associate, !associate.is_empty()),
        ];
        let is_proven = matches!(self.rights, Rights::Contact(_));
        let mut asked = asked.into_iter().filter(|(_, is_asked)| *is_asked);
        asked.find_map(|(aspect, _)| self.refusal(aspect, is_proven))
    }

    /// The user that a registration names counts for nothing where its sender may not say so. It is not refused: registering
    /// matters more than the association.
    pub(crate) fn registered_user(&self, channel: Option<ChannelId>, user: Change<NamedUserId>) -> Change<NamedUserId> {
        let is_proven = match (&user, self.rights) {
            (Change::Keep, _) => return Change::Keep,
            (Change::Set(user), _) => self.proves(channel, user),
            (Change::Clear, Rights::Channel(own)) => Some(own) == channel,
            (Change::Clear, Rights::Device) => true,
            (Change::Clear, Rights::Master | Rights::Contact(_) | Rights::KeyOnly) => false,
        };
        if self.allow(UserAspect::Associate, is_proven).is_ok() { user } else { Change::Keep }
    }

    fn proves(&self, channel: Option<ChannelId>, user: &NamedUserId) -> bool {
        let is_for = |proof: &UserProof| proof.channel.is_none_or(|only| Some(only) == channel);
        self.proof.as_ref().is_some_and(|proof| proof.user == *user && is_for(proof))
    }

    fn allow(&self, aspect: UserAspect, is_proven: bool) -> Result<()> {
        self.refusal(aspect, is_proven).map_or(Ok(()), |why| Err(Error::Forbidden(why)))
    }

    fn refusal(&self, aspect: UserAspect, is_proven: bool) -> Option<String> {
        let rule = self.app.user_rules.rule(aspect, self.app.mode);
        let is_allowed = match (self.rights, rule) {
            (Rights::Master, _) => true,
            // Anybody has the key; its bearer is no device of the app yet.
            (Rights::KeyOnly, UserRule::Devices) => is_proven,
            (_, UserRule::Devices) => true,
            (_, UserRule::Signed) => is_proven,
            (_, UserRule::Servers) => false,
        };
        if is_allowed {
            return None;
        }
        let what = match aspect {
            UserAspect::Associate => "say whose they are",
            UserAspect::Tags => "change tags of named users",
            UserAspect::Attributes => "change attributes of named users",
            UserAspect::Subscriptions => "change subscriptions of named users",
        };
        let (name, key) = (aspect.name(), &self.app.key);
        let how = match rule {
            UserRule::Devices | UserRule::Servers => "A server can, with the master secret".to_owned(),
            UserRule::Signed => format!(
                "They can with a proof, which is a token of the contact, or in the header '{PROOF}' one that a server of the app has \
                 signed, and a server can with the master secret"
            ),
        };
        let rule = rule.word();
        Some(format!(
            "Devices of this app may not {what}, because the rule 'named_users.{name}' is '{rule}'. {how}. The operator changes the \
             rule with 'aerogram app named-users {key} --{name} devices'."
        ))
    }
}

impl FromRequestParts<Edge> for UserRights {
    type Rejection = Error;

    /// Credentials that are sent have to be right, so a proof that is not is refused, also where none is needed.
    async fn from_request_parts(parts: &mut Parts, edge: &Edge) -> Result<Self> {
        let caller = &calling(parts)?.0;
        let proof = match parts.headers.get(PROOF) {
            None => None,
            Some(token) => {
                let token = token.to_str().map_err(|_| refused(ProofRefusal::Malformed))?;
                Some(edge.engine.tenancy().user_proof(caller, token).map_err(refused)?)
            }
        };
        Ok(Self { app: caller.app().clone(), rights: caller.rights, proof })
    }
}

fn refused(refusal: ProofRefusal) -> Error {
    let why = match refusal {
        ProofRefusal::Malformed => {
            "must be a JSON web token with the claims 'aud', the key of the app, 'sub', the named user, and 'exp'"
        }
        ProofRefusal::Wrong => {
            "must be signed with HS256 and the key that GET /api/auth/proof-key shows to servers, or with ES256 and the private key \
             whose public one the operator has set with 'aerogram app proof-key'"
        }
        ProofRefusal::OfAnotherApp => "must have the key of this app as 'aud'",
        ProofRefusal::TooLong => "must end within a day; 'exp' is in seconds since 1970",
        ProofRefusal::Expired => "has expired; get a new one from the server of the app",
    };
    Error::Forbidden(format!("The token in '{PROOF}' {why}."))
}
