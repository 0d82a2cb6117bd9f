-- The ids of the events of one upload that happened in one hour, so that a repeat is recognized: sixteen bytes each. A row for
-- each event would be another page of an index for each, because ids are random. `seen_event` stays for events of servers.
create table seen_upload (
    app bigint not null,
    hour bigint not null,
    ordinal bigint not null,
    -- The first of the ids, by which a channel's uploads are told apart.
    first blob not null,
    ids blob not null,
    primary key (app, hour, ordinal, first)
);
