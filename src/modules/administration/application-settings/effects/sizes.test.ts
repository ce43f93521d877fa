import { FormData } from 'undici'
import { expect } from 'vitest'
import type { World } from '../../../../../test/world.ts'
import { askToken, claimsOf, digestOf, imageAt, Registry, repositoryOf } from '../../../../edges/registry/testing.ts'
import { sizes } from '../../../../settings/declared/sizes.ts'
import { openMergeRequest } from '../../../review/merge-requests/testing.ts'
import { newProject, push, showEffects } from './testing.ts'

/** Whether an upload of this number of bytes is accepted. */
const upload = async (world: World, bytes: number) => {
  const { id } = await newProject(world)
  const body = new FormData()
  body.set('file', new Blob([Buffer.alloc(bytes)]), 'file.bin')
  return 'full_path' in (await world.root.send('POST', `/projects/${id}/uploads`, { body })).json
}

/** How often the first and the second of two requests for the HTML of a text render it. */
async function rendersOf({ anonymous }: World, text: string): Promise<number[]> {
  const count = async () => {
    const { text: metrics } = await anonymous.get('//-/metrics')
    return Number(/^stithy_markdown_renders_total\{result="html"\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
  }
  const renders: number[] = []
  for (let each = 0; each < 2; each++) {
    const before = await count()
    expect((await anonymous.post('/markdown', { text })).json.html).toContain('<strong>once</strong>')
    renders.push((await count()) - before)
  }
  return renders
}

showEffects(
  sizes,
  [
    [
      'push_event_activities_limit',
      { push_event_activities_limit: 1 },
      async (world) => {
        const { project } = await push(world, 1, ['main', 'one', 'two'])
        return (await world.root.get(`/projects/${project.id}/events?action=pushed`)).json.length
      },
      3,
      1,
    ],
    [
      'time_tracking_limit_to_hours',
      { time_tracking_limit_to_hours: true },
      async (world) => {
        const { at } = await openMergeRequest(world)
        const estimated = await world.root.post(`${at}/time_estimate`, { duration: '2d 1h' })
        const { time_stats } = (await world.root.get(at)).json
        const [note] = (await world.root.get(`${at}/notes`)).json
        return [estimated.json.human_time_estimate, time_stats.human_time_estimate, note.body].join(', ')
      },
      '2d 1h, 2d 1h, changed time estimate to 2d 1h',
      '17h, 17h, changed time estimate to 17h',
    ],
    [
      'snippet_size_limit',
      { snippet_size_limit: 2 },
      async ({ root }) => (await root.post('/snippets', { title: 'x', file_name: 'x', content: 'xxx' })).status,
      201,
      400,
    ],
    [
      'D2-SETTINGS-MARKDOWN-VERSION local_markdown_version',
      { local_markdown_version: 1 },
      (world) => rendersOf(world, 'Rendered **once** for each version'),
      [1, 0],
      [1, 0],
    ],
    [
      'container_registry_token_expire_delay',
      { container_registry_token_expire_delay: 60 },
      async (world) => {
        const { exp, iat } = claimsOf((await askToken(world.root, [])).json.token)
        return exp - iat
      },
      300,
      3600,
    ],
    [
      'container_registry_max_layer_size',
      { container_registry_max_layer_size: 1 },
      async (world) => {
        const registry = await Registry.open(world.root, imageAt(await world.project()))
        const body = Buffer.alloc(1_100_000)
        return (await registry.send('POST', `blobs/uploads/?digest=${digestOf(body)}`, { body })).status
      },
      201,
      413,
    ],
    [
      'container_registry_retention_days',
      { container_registry_retention_days: 0 },
      async (world) => {
        const project = await world.project()
        await (await Registry.open(world.root, imageAt(project))).image('one')
        const tag = `/projects/${project.id}/registry/repositories/${(await repositoryOf(world, project)).id}/tags/one`
        await world.root.delete(tag)
        return (await world.root.post(`${tag}/restore`)).status
      },
      201,
      404,
    ],
    ['max_attachment_size', { max_attachment_size: 1 }, (world) => upload(world, 1_500_000), true, false],
  ], // Tested in event-retention.test.ts, because it takes rows of a certain age.
  ['audit_event_retention_days', 'event_retention_days'],
)
