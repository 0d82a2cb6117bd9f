-- Why a push went to nobody, as a sentence. Where it went to some, what became of each is counted, with reasons, per platform.
alter table push add column reason text;
