-- Named users, the people behind channels, and what is known of people without a name.

create table named_user (
    app bigint not null,
    id text not null,
    created bigint not null,
    modified bigint not null,
    -- The terms that all of its channels get from it, encoded as in `channel`.
    terms blob not null,
    primary key (app, id)
);

-- Associations with channels that have not registered yet.
create table pending_association (
    app bigint not null,
    channel blob not null,
    named_user text not null,
    created bigint not null,
    -- The type that the caller says the channel has: a channel that registers with another type is not the
    -- one that was meant. Null if the caller did not say.
    device_type text,
    primary key (app, channel)
);
-- For forgetting the oldest, and those of a deleted user.
create index pending_association_by_created on pending_association (app, created);
create index pending_association_by_named_user on pending_association (app, named_user);

-- Named users under the ids by which devices know them. A channel without a named user is a contact under its
-- own id and has no row.
create table contact (
    app bigint not null,
    id blob not null,
    named_user text not null,
    primary key (app, id)
);

-- What a channel holds because its device said it about a user who has no name yet. It goes with that user.
create table unknown_user (
    app bigint not null,
    ordinal bigint not null,
    terms blob not null,
    -- Names of attributes, as a JSON array.
    attributes text not null,
    primary key (app, ordinal)
);
