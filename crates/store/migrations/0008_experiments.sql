-- Experiments. The experiment itself is a document; this is who was put into which of its groups.

create table experiment_group (
    app bigint not null,
    experiment blob not null,
    -- The push that the group was sent; the control group has the id of the experiment here.
    push blob not null,
    block bigint not null,
    -- Null for the control group.
    variant bigint,
    -- When the group was formed. 0 once only the numbers are kept.
    since bigint not null,
    n_members bigint not null,
    n_opened bigint not null,
    members blob not null,
    -- Those of the members who have opened the app since.
    opened blob not null,
    primary key (app, experiment, push, block)
);
create index experiment_group_since on experiment_group (app, since);
