-- Message Center: messages, whose inboxes they are in, and the users of inboxes.

create table message (
    app bigint not null,
    number bigint not null,
    push blob not null,
    -- The schedule, experiment or pipeline that sent it, so that all of its messages can be deleted together.
    grp blob,
    sent bigint not null,
    -- The expiry that devices see; null for a message that does not say when it expires.
    expires bigint,
    -- From then on it is in no inbox, because it has expired or was deleted.
    ends bigint not null,
    -- What its events say about the push, and which text is for whom, as JSON.
    told text not null,
    texts text not null,
    -- The set of slices that have a row in `message_holders`.
    slices blob not null,
    primary key (app, number)
);
create unique index message_by_push on message (app, push);
create index message_by_end on message (app, ends);
create index message_by_group on message (app, grp, number) where grp is not null;

-- The texts of a message: several if it is localized.
create table message_text (
    app bigint not null,
    number bigint not null,
    text bigint not null,
    title text not null,
    content_type text not null,
    -- JSON.
    details text not null,
    -- Of the body, in bytes.
    size bigint not null,
    body blob not null,
    primary key (app, number, text)
);

-- The holders of a message that many hold, in slices of 4,096 channels: an inbox reads one row per message of
-- its slice.
create table message_holders (
    app bigint not null,
    slice bigint not null,
    number bigint not null,
    holders blob not null,
    primary key (app, slice, number)
);

-- The holders of a message that few hold, a row each, so that listings of other inboxes do not come across
-- it.
create table inbox_message (
    app bigint not null,
    ordinal bigint not null,
    number bigint not null,
    primary key (app, ordinal, number)
);
-- Messages are deleted as a whole. The index has the ordinals in it: without them SQLite would rather go
-- through the primary keys of all inboxes of the app.
create index inbox_message_by_number on inbox_message (app, number, ordinal);

create table inbox_user (
    app bigint not null,
    id text not null,
    created bigint not null,
    -- When its inbox last changed by something that was done to this user alone.
    changed bigint not null,
    -- Sets of numbers of messages.
    read_messages blob not null,
    deleted_messages blob not null,
    primary key (app, id)
);

-- Devices present an id and a password without saying of which app. An id is one app's.
create table inbox_login (
    id text not null primary key,
    owner bigint not null,
    -- SHA-256.
    password_hash blob not null
);

-- Whose a channel is: it has one inbox user at most.
create table inbox_channel (
    app bigint not null,
    ordinal bigint not null,
    user_id text not null,
    primary key (app, ordinal)
);
create index inbox_channel_by_user on inbox_channel (app, user_id);
