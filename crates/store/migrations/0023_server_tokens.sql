-- Credentials of servers that can do less than the master secret: bearer tokens, and OAuth clients, which get such tokens by the hour.
-- They are found without knowing the app, so that the rows are not spread with apps.

create table server_token (
    id blob not null primary key,
    -- The number of the app.
    in_app bigint not null,
    -- 'bearer' or 'client'.
    kind text not null,
    name text not null,
    -- Of the token, or of the secret of the client; null for a client that has only a key.
    hash blob,
    -- With which assertions of a client are checked.
    public_key blob,
    -- How the token or secret begins, to recognize it by.
    prefix text not null,
    role text not null,
    -- Words with a space between them; null for all.
    scopes text,
    -- Networks with a space between them; null for all.
    addresses text,
    created bigint not null,
    -- By whose credential it was made.
    created_by text not null,
    -- From when on it does not count any more; null for never.
    expires bigint,
    -- The minute in which it was last used.
    used bigint
);
create unique index server_token_by_hash on server_token (hash) where hash is not null;
create index server_token_by_app on server_token (in_app, created, id);
