-- Milestones of releases.

create table release_milestones (
  release_id bigint not null references releases on delete cascade,
  milestone_id bigint not null references milestones on delete cascade,
  primary key (release_id, milestone_id)
);
create index release_milestones_milestone on release_milestones (milestone_id);
