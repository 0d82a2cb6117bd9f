-- Apps, the tenants of an installation, and what is kept for them as small documents and answers.
--
-- Rules of the whole schema: columns are bigint, double precision, text and blob; truth values are 0 and 1;
-- times are milliseconds since 1970; unique indexes have names. A table that holds rows of apps has the
-- number of the app as the first column of its key, so that the rows of one app lie together, and is listed
-- in `apps::OWNED_TABLES`, by which a deleted app is emptied. What must be unique over all apps, or is asked
-- for before the app is known, stands in a few small tables without such a key: where the rows of apps are
-- spread over several servers, those stay together. Large columns come last, so that SQLite reads the others
-- without them. "Set" means a serialized bitmap of ordinals, "block" 65,536 consecutive ordinals.

-- The last number given out of each sequence of the whole installation.
create table serial (
    name text not null primary key,
    value bigint not null
);
insert into serial (name, value) values ('app', 0);

-- An app: who it is, and what proves it.
create table app (
    id bigint not null primary key,
    -- The public half of its credentials.
    key text not null,
    name text not null,
    -- 'development' or 'production'.
    mode text not null,
    created bigint not null,
    -- SHA-256 of the two secrets.
    app_secret_hash blob not null,
    master_secret_hash blob not null,
    -- Who may say what about named users: 'devices', 'signed' or 'servers'; null for the rule of the mode.
    users_associate text,
    users_tags text,
    users_attributes text,
    users_subscriptions text
);
create unique index app_by_key on app (key);

-- The last or next number of every sequence of an app. Who changes rows of an app locks this one first.
create table app_numbers (
    app bigint not null primary key,
    next_ordinal bigint not null,
    next_term bigint not null,
    -- The log position of the last deletion of a tag: numbers of tags that were cached before it may be void.
    terms_retired bigint not null,
    -- The log: the position of its last record and of the oldest one that is kept, the offset of the last event
    -- that was deleted, so that a reader who has seen that one is known to have missed nothing, and the size of
    -- all bodies.
    log_head bigint not null,
    log_start bigint not null,
    log_lost bigint not null,
    log_bytes bigint not null,
    -- The number of the next message for inboxes, and the end of the last message of which nothing is kept.
    next_message bigint not null,
    messages_forgotten bigint not null,
    -- The position of the last delivery in the sandbox.
    sandbox_head bigint not null,
    -- How much devices have created; the limits of it are settings.
    device_channels bigint not null default 0,
    device_tags bigint not null default 0,
    device_tag_groups bigint not null default 0,
    device_properties bigint not null default 0,
    device_named_users bigint not null default 0
);

-- Records that are read and written whole: schedules, templates, lists, platforms and the like. Those of the
-- installation itself have the app 0.
create table document (
    app bigint not null,
    kind text not null,
    id text not null,
    created bigint not null,
    modified bigint not null,
    -- JSON, some of it encrypted.
    body text not null,
    primary key (app, kind, id)
);

-- Answers to requests with an idempotency key, so that a repeated request is answered and not carried out
-- again.
create table idempotency (
    app bigint not null,
    key text not null,
    -- The digest of the request: another request under the same key is refused.
    request blob not null,
    answer text not null,
    created bigint not null,
    primary key (app, key)
);
create index idempotency_by_created on idempotency (created);
