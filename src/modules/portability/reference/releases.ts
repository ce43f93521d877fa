import { type Noteables, noteableMilestone } from './noteables.ts'
import { listIn, type Nested, oneIn, pick, timeOf, timesOf } from './values.ts'

/** Adds a release with its milestones and links. */
export async function addRelease(noteables: Noteables, release: Nested): Promise<void> {
  const { to } = noteables
  const times = timesOf(release)
  const line = await to.add('releases', {
    ...pick(release, 'tag', 'name'),
    description: release['description'] ?? '',
    author: to.userOf(release['author_id']),
    released_at: timeOf(release['released_at']) ?? times.created_at,
    ...times,
  })
  if (line === undefined) return
  for (const named of listIn(release, 'milestone_releases')) {
    const milestone = await noteableMilestone(noteables, oneIn(named, 'milestone'))
    if (milestone === undefined) to.leaveOut('release_milestones')
    else await to.add('release_milestones', { release: line, milestone })
  }
  for (const link of listIn(release, 'links'))
    await to.add('release_links', {
      release: line,
      ...pick(link, 'name', 'url'),
      link_type: link['link_type'] ?? 'other',
      ...timesOf(link),
    })
}
