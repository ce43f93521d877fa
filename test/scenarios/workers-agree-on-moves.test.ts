import { test } from 'vitest'
import { at, compareAfter, field, scene, status, total, write } from '../agreeing-workers.ts'
import { type Answer, twoWorkers } from '../two-workers.ts'

test('projects and groups that move, end and come back do so in each worker at once', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, bob, group, friends, P, G } = await scene(one)
  const shared = ({ json }: Answer) => json.shared_with_groups.map((each: any) => each.group_full_path)
  const path = field('path_with_namespace')
  await compareAfter(workers, [
    [
      write('POST', `${P}/share`, { group_id: friends.id, group_access: 30 }),
      [
        [at(P, shared), [], ['friends']],
        [at(`/groups/${friends.id}/projects/shared`, total), 0, 1],
      ],
    ],
    [
      write('PUT', `/groups/${friends.id}`, { path: 'mates' }),
      [
        [at(P, shared), ['friends'], ['mates']],
        [at('/projects', ({ json }) => json[0].shared_with_groups[0].group_full_path, ann.token), 'friends', 'mates'],
      ],
    ],
    [
      write('PUT', `/groups/${friends.id}`, { visibility: 'private' }),
      [
        [at(P, shared, bob.token), ['mates'], []],
        [at(`/groups/${friends.id}`, status, bob.token), 200, 404],
      ],
    ],
    [write('POST', `${P}/archive`), [[at('/projects?archived=true', total), 0, 1]]],
    [write('POST', `${P}/unarchive`), [[at(P, field('archived')), true, false]]],
    [write('POST', `${P}/access_requests`, undefined, bob.token), [[at(`${P}/access_requests`, total), 0, 1]]],
    [
      write('PUT', `${P}/access_requests/${bob.id}/approve`),
      [
        [at(`${P}/members`, total), 2, 3],
        [at('/projects?membership=true', total, bob.token), 0, 1],
      ],
    ],
    [
      write('PUT', `${P}/transfer`, { namespace: friends.id }),
      [
        [at(P, path, ann.token), 'tools/hammer', 'mates/hammer'],
        [at('/projects/mates%2Fhammer', status, ann.token), 404, 200],
        [at(`${G}/projects`, total), 1, 0],
      ],
    ],
    [
      write('PUT', `${P}/transfer`, { namespace: group.id }),
      [[at(P, path, ann.token), 'mates/hammer', 'tools/hammer']],
    ],
    [
      write('POST', `${G}/transfer`, { group_id: friends.id }),
      [
        [at(G, field('full_path')), 'tools', 'mates/tools'],
        [at(P, path, ann.token), 'tools/hammer', 'mates/tools/hammer'],
      ],
    ],
    [write('DELETE', P), [[at(P, ({ json }) => json.marked_for_deletion_on !== null), false, true]]],
    [write('POST', `${P}/restore`), [[at(P, ({ json }) => json.marked_for_deletion_on !== null), true, false]]],
    [write('DELETE', G), [[at(G, ({ json }) => json.marked_for_deletion_on !== null), false, true]]],
    [write('POST', `${G}/restore`), [[at(G, ({ json }) => json.marked_for_deletion_on !== null), true, false]]],
    [write('DELETE', `/users/${bob.id}`), [[at(`${P}/members`, total), 3, 2]]],
  ])
})
