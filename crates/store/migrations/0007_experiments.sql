-- Whom experiments have put into which group, block by block, and who of them has opened the app since.
create table experiment_group (
  app bigint not null,
  experiment blob not null,
  -- What the group was sent; the control group goes by the id of the experiment.
  push blob not null,
  block bigint not null,
  -- None for the control group.
  variant bigint,
  -- When the group was made up.
  since bigint not null,
  members blob not null,
  n_members bigint not null,
  opened blob not null,
  n_opened bigint not null,
  primary key (app, experiment, push, block)
);
create index experiment_group_since on experiment_group (app, since);
