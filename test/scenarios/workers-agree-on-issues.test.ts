import { test } from 'vitest'
import { at, compareAfter, field, scene, total, write } from '../agreeing-workers.ts'
import { madeBy, twoWorkers } from '../two-workers.ts'

test('what surrounds issues is that of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, group, project, P, G } = await scene(one)
  const issue = await madeBy(one, `${P}/issues`, { title: 'One', labels: 'bug' })
  const { id: bug } = (await one('GET', `/api/v4${P}/labels/bug`)).json
  const { id: soon } = await madeBy(one, `${P}/milestones`, { title: 'soon' })
  await one('PUT', `/api/v4${P}/issues/1`, { milestone_id: soon })
  const epic = await madeBy(one, `${G}/epics`, { title: 'Epic' })
  const board = await madeBy(one, `${P}/boards`, { name: 'Work' })
  const badge = await madeBy(one, `${G}/badges`, { link_url: 'https://one.example', image_url: 'https://one.example' })
  await compareAfter(workers, [
    [
      write('POST', `${P}/boards/${board.id}/lists`, { label_id: bug }),
      [[at(`${P}/boards`, ({ json }) => json[0].lists.length), 0, 1]],
    ],
    [
      write('PUT', `${P}/labels/${bug}/promote`),
      [
        [at(`${G}/labels`, total), 0, 1],
        [at(`${P}/labels`, ({ json }) => json[0].is_project_label), true, false],
        [at(`${P}/labels?include_ancestor_groups=false`, total), 1, 0],
        [at(`${P}/issues?with_labels_details=true`, ({ json }) => json[0].labels[0].name), 'bug', 'bug'],
      ],
    ],
    [
      write('PUT', `${G}/labels/bug`, { new_name: 'fault' }),
      [
        [at(`${P}/issues/1`, field('labels')), ['bug'], ['fault']],
        [at(`${P}/issues?labels=fault`, total), 0, 1],
      ],
    ],
    [
      write('POST', `${P}/milestones/${soon}/promote`),
      [
        [at(`${G}/milestones`, total), 0, 1],
        [at(`${P}/milestones`, total), 1, 0],
        [at(`${P}/issues`, ({ json }) => json[0].milestone.group_id ?? null), null, group.id],
      ],
    ],
    [
      write('POST', `${G}/epics/${epic.iid}/issues/${issue.id}`),
      [
        [at(`${P}/issues/1`, ({ json }) => json.epic?.title ?? null), null, 'Epic'],
        [at(`${G}/epics/1/issues`, total), 0, 1],
      ],
    ],
    [
      write('PUT', `${G}/epics/1`, { title: 'Saga', state_event: 'close' }),
      [
        [at(`${G}/epics?state=closed`, total), 0, 1],
        [at(`${P}/issues/1`, ({ json }) => json.epic.title), 'Epic', 'Saga'],
      ],
    ],
    [
      write('POST', `${G}/epics/1/award_emoji`, { name: 'tada' }, ann.token),
      [[at(`${G}/epics/1/award_emoji`, total), 0, 1]],
    ],
    [
      write('PUT', `${P}/boards/${board.id}`, { name: 'Play' }),
      [[at(`${P}/boards/${board.id}`, field('name')), 'Work', 'Play']],
    ],
    [write('POST', `${P}/issues/1/todo`, undefined, ann.token), [[at('/todos', total, ann.token), 0, 1]]],
    [write('POST', '/todos/mark_as_done', undefined, ann.token), [[at('/todos', total, ann.token), 1, 0]]],
    [
      write('PUT', `${P}/notification_settings`, { level: 'watch' }, ann.token),
      [[at(`${P}/notification_settings`, field('level'), ann.token), 'global', 'watch']],
    ],
    [
      write('POST', `${P}/issues`, { title: 'Two' }),
      [
        [
          at(`${P}/events`, ({ json }) => json.some((each: any) => each.target_title === 'Two'), ann.token),
          false,
          true,
        ],
      ],
    ],
    [
      write('PUT', `${G}/badges/${badge.id}`, { link_url: 'https://two.example' }),
      [[at(`${P}/badges`, ({ json }) => json[0].link_url), 'https://one.example', 'https://two.example']],
    ],
    [
      write('POST', `${P}/wikis`, { title: 'home', content: 'text' }),
      [[at(`${P}/wikis`, ({ json }) => json.length), 0, 1]],
    ],
    [
      write('PUT', `${P}/wikis/home`, { title: 'home', content: 'more' }),
      [[at(`${P}/wikis/home`, field('content')), 'text', 'more']],
    ],
    [write('POST', `${P}/issues/2/clone`, { to_project_id: project.id }), [[at(`${P}/issues`, total), 2, 3]]],
    [write('DELETE', `${P}/issues/3`), [[at(`${P}/issues?scope=all`, total), 3, 2]]],
  ])
})
