//! Inboxes and their messages.

use model::inbox::{InboxChange, MessageIds, NewInbox};
use model::message_deletion::MessageDeletion;
use serde_json::json;

use crate::openapi::{Area, body};
use crate::routes::inbox::{Created, User};
use crate::routes::message_deletion::Deleted;
use crate::routes::messages::{Listing, WithBody};

pub(super) fn area() -> Area {
    let mut area = Area::new(
        "Message Center",
        "Messages that stay in the inbox of an app until they are deleted or expire. Devices make a user for their inbox, and \
         fetch it with the user's own password.",
    );
    area.post(
        "/api/user",
        "Create an inbox",
        "Makes a user with an inbox for channels. Only now the password is shown.",
    )
    .body(body::of::<NewInbox>, json!({"ios_channels": ["9c36e8c7-5a73-47c0-9716-99fd3d4197d5"]}))
    .changed::<Created>("The user, the password, and the channels that were found.")
    .status(201)
    .location();
    area.delete(
        "/api/user/messages/{message_id}",
        "Delete a message everywhere",
        "Takes a message out of all inboxes, by its id or by that of its push.",
    )
    .done()
    .status(202);
    area.post(
        "/api/user/messages/batch-delete",
        "Delete messages everywhere",
        "Takes several messages out of all inboxes, by their ids, or all messages of groups. Unknown ids are listed in `errors` \
         (40404).",
    )
    .body(body::of::<MessageDeletion>, json!({"message_ids": ["0190b1c5-5c7e-7000-8000-000000000000"]}))
    .bare::<Deleted>("Some of them were there and are deleted.")
    .status(202)
    .refuses(404, "None of the ids is known (40401).");
    area.get("/api/user/{user_id}", "Look up an inbox", "The user of an inbox and its channels.")
        .ok::<User>("The user.");
    area.post(
        "/api/user/{user_id}",
        "Change an inbox",
        "Adds channels to the inbox and removes others, by the kind of channel.",
    )
    .body(body::of::<InboxChange>, json!({"ios_channels": {"add": ["9c36e8c7-5a73-47c0-9716-99fd3d4197d5"]}}))
    .changed::<User>("The user as it is now.");
    area.get(
        "/api/user/{user_id}/messages",
        "List messages",
        "The newest first. With `If-Modified-Since`, nothing if nothing has changed.",
    )
    .ok::<Listing>("The messages.")
    .header("Last-Modified", "When the inbox last changed.")
    .not_modified();
    area.get("/api/user/{user_id}/messages/unread", "List unread messages", "The messages that have not been read.")
        .ok::<Listing>("The messages.");
    let ids = json!({"messages": [{"message_id": "AZCxxVx-cACAAAAAAAAAAA"}]});
    area.post(
        "/api/user/{user_id}/messages/unread",
        "Mark messages as read",
        "Messages that are not there are passed over.",
    )
    .body(body::of::<MessageIds>, ids.clone())
    .done();
    area.post(
        "/api/user/{user_id}/messages/delete",
        "Delete messages",
        "From this inbox. Missing messages are passed over.",
    )
    .body(body::of::<MessageIds>, ids)
    .done();
    area.get(
        "/api/user/{user_id}/messages/message/{message_id}",
        "Look up a message",
        "With its body, if that is text.",
    )
    .ok::<WithBody>("The message.");
    area.delete("/api/user/{user_id}/messages/message/{message_id}", "Delete a message", "From this inbox.").done();
    area.get(
        "/api/user/{user_id}/messages/message/{message_id}/body",
        "Fetch the body of a message",
        "As the sender wrote it, of the content type that the sender chose.",
    )
    .any_content("The body.");
    area.get(
        "/api/user/{user_id}/messages/message/{message_id}/read",
        "Read a message",
        "Marks a message as read, as devices do by fetching this address. There is no HEAD here, since it would change something.",
    )
    .done();
    area.post("/api/user/{user_id}/messages/message/{message_id}/read", "Mark a message as read", "The same by POST.")
        .done();
    area
}
