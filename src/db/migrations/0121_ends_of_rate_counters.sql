-- When the period of a counter ends, by which a job deletes it. Counts begin anew.
drop table rate_counters;

create unlogged table rate_counters (
  key text primary key,
  hits integer not null,
  ends_at timestamptz not null
);
