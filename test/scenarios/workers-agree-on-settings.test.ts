import { test } from 'vitest'
import { at, type Change, compareAfter, field, scene, status, total, write } from '../agreeing-workers.ts'
import { madeBy, twoWorkers } from '../two-workers.ts'

test('settings of projects, groups and the installation are those of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, P, G, project } = await scene(one)
  const topic = await madeBy(one, '/topics', { name: 'wood', title: 'Wood' })
  const message = await madeBy(one, '/broadcast_messages', { message: 'hello' })
  await madeBy(one, `${P}/repository/tags`, { tag_name: 'v1', ref: 'main' })
  const hooks = [`${P}/hooks`, `${G}/hooks`, '/hooks']
  await compareAfter(workers, [
    ...hooks.map((path): Change => [write('POST', path, { url: 'https://hook.example' }), [[at(path, total), 0, 1]]]),
    ...[`${P}/variables`, `${G}/variables`, '/admin/ci/variables'].map(
      (path): Change => [
        write('POST', path, { key: 'KEY', value: 'value' }),
        [
          [at(path, total), 0, 1],
          [at(`${path}/KEY`, status), 404, 200],
        ],
      ],
    ),
    ...[P, G].map(
      (path): Change => [
        write('PUT', `${path}/custom_attributes/place`, { value: 'here' }),
        [[at(`${path}?with_custom_attributes=true`, ({ json }) => json.custom_attributes.length), 0, 1]],
      ],
    ),
    ...[P, G, '/application'].map(
      (path): Change => [
        write('POST', `${path}/push_rule`, { max_file_size: 7 }),
        [[at(`${path}/push_rule`, ({ json }) => json?.max_file_size ?? null), null, 7]],
      ],
    ),
    [write('PUT', P, { topics: ['wood'] }), [[at(`/topics/${topic.id}`, field('total_projects_count')), 0, 1]]],
    [
      write('PUT', `/topics/${topic.id}`, { title: 'Iron' }),
      [[at('/topics', ({ json }) => json[0].title, null), 'Wood', 'Iron']],
    ],
    [
      write('PUT', `/broadcast_messages/${message.id}`, { message: 'bye' }),
      [[at('/broadcast_messages', ({ json }) => json[0].message, null), 'hello', 'bye']],
    ],
    [
      write('PUT', '/application/appearance', { title: 'Forge' }),
      [[at('/application/appearance', field('title')), '', 'Forge']],
    ],
    [write('POST', '/features/quick', { value: 'true' }), [[at('/features', ({ json }) => json.length), 0, 1]]],
    [
      write('PUT', `${P}/integrations/slack`, { webhook: 'https://hooks.slack.com/x' }),
      [
        [at(`${P}/integrations`, ({ json }) => json.length), 0, 1],
        [at(`${P}/integrations/slack`, status), 404, 200],
      ],
    ],
    [
      write('POST', `${P}/remote_mirrors`, { url: 'https://mirror.example/a.git' }),
      [[at(`${P}/remote_mirrors`, total), 0, 1]],
    ],
    [
      write('POST', `${P}/protected_branches`, { name: 'm*', push_access_level: 0 }),
      [
        [at(`${P}/protected_branches`, total), 1, 2],
        [at(`${P}/protected_branches/m%2A`, status), 404, 200],
      ],
    ],
    [
      write('DELETE', `${P}/protected_branches/main`),
      [
        [
          at(`${P}/repository/branches/main`, ({ json }) => [json.protected, json.can_push], ann.token),
          [true, true],
          [true, false],
        ],
      ],
    ],
    [
      write('DELETE', `${P}/protected_branches/m%2A`),
      [[at(`${P}/repository/branches`, ({ json }) => json[0].protected, ann.token), true, false]],
    ],
    [
      write('POST', `${P}/protected_tags`, { name: 'v*' }),
      [[at(`${P}/repository/tags`, ({ json }) => json[0].protected), false, true]],
    ],
    [
      write('POST', `${P}/approval_rules`, { name: 'all', approvals_required: 1 }),
      [[at(`${P}/approval_rules`, total), 0, 1]],
    ],
    [
      write('PUT', `${P}/approvers`, { approver_ids: [ann.id], approver_group_ids: [] }),
      [[at(`${P}/approvals`, ({ json }) => json.approvers.length), 0, 1]],
    ],
    [
      write('PUT', P, { merge_method: 'ff', description: 'Steel' }),
      [[at('/projects', ({ json }) => json.find(({ id }: any) => id === project.id).description, null), null, 'Steel']],
    ],
    [write('PUT', P, { issues_access_level: 'disabled' }), [[at(`${P}/issues`, status, ann.token), 200, 403]]],
  ])
})
