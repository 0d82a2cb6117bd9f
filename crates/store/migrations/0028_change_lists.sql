-- The rows of tag lists and attribute lists that are not applied yet. Those of an upload have a generation to themselves, and each
-- goes with the transaction that applies it.
create table list_change (
    app bigint not null,
    -- The list as in the paths of the API, `tag-lists/<name>` or `attribute-lists/<name>`.
    list text not null,
    generation bigint not null,
    line bigint not null,
    -- Whom the row is about: one of both.
    channel blob,
    named_user text,
    -- The other cells, as a JSON array of texts.
    cells text not null,
    primary key (app, list, generation, line)
);
-- For erasing a person.
create index list_change_by_channel on list_change (app, channel);
create index list_change_by_named_user on list_change (app, named_user);
