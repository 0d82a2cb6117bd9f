-- Browsers register with the key of the app alone, from pages of these origins, which are words with a space between them; null for
-- none.
alter table app add column web_origins text;

-- By which such a browser proves to be its channel.
create table channel_secret (
    app bigint not null,
    ordinal bigint not null,
    -- SHA-256.
    hash blob not null,
    primary key (app, ordinal)
);

-- The browsers that have told that they received a push, while responses to it count. Then they are in push_mark, beside the devices
-- that have acknowledged it over a live connection.
create table push_receipt (
    app bigint not null,
    push blob not null,
    ordinal bigint not null,
    primary key (app, push, ordinal)
);
