//! Accounts of the console and the teams of apps.

use model::account::{AccountChange, Membership, NewAccount, NewMember};
use serde_json::json;

use crate::openapi::{Area, body, query};
use crate::page_size::PageSize;
use crate::routes::{accounts, team};

pub(super) fn area() -> Area {
    let mut area = Area::new("Accounts", "The people who use the console, and what they may do in which app.");
    area.get("/operator/accounts", "List accounts", "With their roles, in the order of their addresses.")
        .takes(query::text("start", "The address with which the page begins, or the beginning of it."))
        .takes(query::limit(PageSize::ACCOUNTS))
        .ok::<accounts::All>("The accounts.");
    area.post(
        "/operator/accounts",
        "Invite somebody",
        "No mail is sent: give the person the link of the answer. Roles in apps are given by the team of each app.",
    )
    .body(body::of::<NewAccount>, json!({"email": "kim@example.com", "owner": false}))
    .changed::<accounts::Invited>("The account and its link.")
    .status(201)
    .location()
    .refuses(409, "There is an account with this address already, or there are too many (40900).");
    area.post(
        "/operator/accounts/owner-link",
        "Make a link for an owner",
        "Whoever opens it makes an account that owns the installation. It works for an hour.",
    )
    .changed::<accounts::Link>("The link.");
    area.get("/operator/accounts/{account_id}", "Look up an account", "With its roles.")
        .ok::<accounts::One>("The account.");
    area.patch(
        "/operator/accounts/{account_id}",
        "Change an account",
        "Its name, whether it owns the installation, and whether its person is locked out.",
    )
    .body(body::of::<AccountChange>, json!({"disabled": true}))
    .changed::<accounts::One>("The account as it is now.")
    .refuses(409, "It is the last owner (40900).");
    area.delete("/operator/accounts/{account_id}", "Delete an account", "Its person is logged out at once.")
        .nothing("Deleted.")
        .refuses(409, "It is the last owner (40900).");
    area.post(
        "/operator/accounts/{account_id}/link",
        "Make a link for a new password",
        "Give it to the person. When it is used, the person is logged out everywhere else. It works for three days.",
    )
    .changed::<accounts::Link>("The link.");
    area.delete(
        "/operator/accounts/{account_id}/one-time-codes",
        "Switch one-time codes off",
        "For a person who has lost the authenticator app.",
    )
    .nothing("Switched off.");
    area.get("/operator/accounts/{account_id}/sign-ins", "List where somebody is logged in", "The newest first.")
        .ok::<accounts::SignIns>("The sign-ins.");
    area.delete("/operator/accounts/{account_id}/sign-ins/{sign_in_id}", "Log somebody out", "In one browser.")
        .nothing("Ended.");
    area.get("/operator/apps/{key}/team", "List the team of an app", "Owners are not listed: they may do everything.")
        .ok::<team::All>("The team.");
    area.post(
        "/operator/apps/{key}/team",
        "Add somebody to the team of an app",
        "Who has no account gets one, and the answer has a link for the person. Who is in the team gets the role instead of the \
         one before.",
    )
    .body(body::of::<NewMember>, json!({"email": "kim@example.com", "role": "sender"}))
    .changed::<team::Added>("The account, and its link if the person has no password yet.")
    .status(201)
    .refuses(409, "The account is locked, or there are too many (40900).");
    area.put("/operator/apps/{key}/team/{account_id}", "Change somebody's role in an app", "It counts at once.")
        .body(body::of::<Membership>, json!({"role": "editor"}))
        .nothing("Changed.");
    area.delete(
        "/operator/apps/{key}/team/{account_id}",
        "Remove somebody from the team of an app",
        "It counts at once.",
    )
    .nothing("Removed.");
    area
}
