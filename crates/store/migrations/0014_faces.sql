-- What channels looked like before they changed, which earlier events go on showing.
create table face (
    app bigint not null,
    -- The position in the log up to which events show it.
    until bigint not null,
    ordinal bigint not null,
    -- What events show, and whose the channel was, as JSON.
    body blob not null,
    primary key (app, until, ordinal)
);
create index face_by_channel on face (app, ordinal, until);
