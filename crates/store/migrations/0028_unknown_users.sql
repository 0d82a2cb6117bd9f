-- What a channel has because its device said it about a user that nobody knows by name yet: terms and names of attributes, which
-- the channel holds itself. They go with that user.
create table unknown_user (
  app bigint not null,
  ordinal bigint not null,
  terms blob not null,
  attributes text not null,
  primary key (app, ordinal)
);
