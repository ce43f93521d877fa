import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { craft, entriesOf, exportOf, importOf } from '../testing.ts'
import { at, request, times } from './testing.ts'

/** A project as the reference product exports it, with records of every relation that has a place here, and some that have none. */
async function stage(world: World) {
  const ann = await world.user()
  const project = await storedProject(world)
  const head = project.repository.commit({ a: 'a\n' })
  const bundle = (await entriesOf(await exportOf(world, project.id))).get('project.bundle')!
  const label = { id: 5, title: 'bug', color: '#ff0000', type: 'ProjectLabel', ...times, priorities: [{ priority: 2 }] }
  const notes = [
    { id: 1, note: 'By a member', author_id: 11, author: { name: 'Ann' }, system: false, ...times },
    {
      id: 2,
      note: '  ',
      author_id: 99,
      author: { name: 'Gone *Person*' },
      system: false,
      ...times,
      award_emoji: [{ name: 'tada', user_id: 11, ...times }],
    },
    { id: 3, note: 'changed the title', author_id: 11, system: true, ...times },
    { id: 4, note: 'x\0y', author_id: 11, system: false, ...times },
  ]
  const tree = {
    description: 'From elsewhere',
    visibility_level: 0,
    archived: false,
    merge_requests_ff_only_enabled: true,
    build_timeout: 3600,
    project_members: [
      { access_level: 50, user: { id: 11, username: ann.username, email: `${ann.username}@example.com` }, ...times },
    ],
    labels: [label],
    milestones: [{ iid: 4, title: 'Soon', state: 'active', due_date: '2030-01-01', ...times }],
    issues: [
      {
        iid: 7,
        title: 'Imported',
        description: 'Text',
        author_id: 11,
        state: 'closed',
        closed_at: at,
        ...times,
        milestone: { title: 'Soon' },
        label_links: [{ label }, { label: { title: 'of a group', color: '#00ff00', type: 'GroupLabel', ...times } }],
        resource_label_events: [{ action: 1, user_id: 11, label, created_at: at }],
        timelogs: [{ time_spent: 60, user_id: 11, spent_at: at, created_at: at }],
        issue_assignees: [{ user_id: 11 }],
        notes,
      },
      { iid: 8, title: 'x'.repeat(300), author_id: 11, state: 'opened', ...times, notes },
    ],
    merge_requests: [
      {
        ...request,
        iid: 3,
        state: 'merged',
        merge_commit_sha: head,
        metrics: { merged_by_id: 11, merged_at: at },
        merge_request_diff: {
          state: 'collected',
          head_commit_sha: head,
          base_commit_sha: head,
          start_commit_sha: head,
          created_at: at,
          merge_request_diff_commits: [{ sha: head, relative_order: 0 }],
          merge_request_diff_files: [],
        },
        notes: [
          {
            id: 9,
            note: 'On a line',
            author_id: 11,
            type: 'DiffNote',
            position: JSON.stringify({
              base_sha: head,
              start_sha: head,
              head_sha: head,
              old_path: 'a',
              new_path: 'a',
              old_line: null,
              new_line: 1,
              position_type: 'text',
            }),
            ...times,
          },
        ],
      },
    ],
    releases: [
      {
        tag: 'v1',
        name: 'One',
        description: 'First',
        author_id: 11,
        ...times,
        links: [{ name: 'a', url: 'https://example.com/a', ...times }],
      },
    ],
    ci_pipelines: [
      {
        iid: 1,
        sha: head,
        ref: 'main',
        tag: false,
        status: 'success',
        source: 'push',
        ...times,
        stages: [
          {
            name: 'test',
            statuses: [{ name: 'unit', ref: 'main', status: 'success', stage: 'test', stage_idx: 0, created_at: at }],
          },
        ],
      },
    ],
    protected_branches: [
      {
        name: 'main',
        ...times,
        push_access_levels: [{ access_level: 40 }],
        merge_access_levels: [{ access_level: 30 }, { group_id: 9 }],
      },
    ],
    protected_tags: [{ name: 'v*', ...times, create_access_levels: [{ access_level: 40 }] }],
    boards: [{ name: 'Board', ...times, lists: [{ label, position: 0, ...times }, { list_type: 'closed' }] }],
    project_badges: [{ link_url: 'https://example.com', image_url: 'https://example.com/a.png', ...times }],
    snippets: [
      {
        title: 'A snippet',
        content: 'puts 1\n',
        file_name: 'x.rb',
        description: 'Short',
        visibility_level: 10,
        author_id: 11,
        ...times,
        notes: notes.slice(0, 1),
        award_emoji: [{ name: 'tada', user_id: 11, ...times }],
      },
      { title: 'Without a text', content: null, visibility_level: 0, author_id: 11, ...times },
    ],
    services: [{ type: 'JiraService' }, { type: 'SlackService' }],
    project_feature: { issues_access_level: 20, wiki_access_level: 0, repository_access_level: 20 },
  }
  const rest = [
    { name: './VERSION', content: '0.2.4\n' },
    { name: './project.bundle', content: bundle },
    { name: './uploads/0123456789abcdef0123456789abcdef/a.txt', content: 'attached' },
  ]
  return { ann, tree, rest }
}

/** The archive in the older layout. */
const older = ({ tree, rest }: Awaited<ReturnType<typeof stage>>): Buffer =>
  craft([...rest, { name: './project.json', content: JSON.stringify(tree) }])

/** The archive in the later layout: a line for each record. */
function later({ tree, rest }: Awaited<ReturnType<typeof stage>>): Buffer {
  const relations = Object.entries(tree).filter(([, value]) => value !== null && typeof value === 'object')
  const top = Object.fromEntries(
    Object.entries(tree).filter(([, value]) => value === null || typeof value !== 'object'),
  )
  return craft([
    ...rest,
    { name: './tree/project.json', content: JSON.stringify(top) },
    ...relations.map(([name, value]) => ({
      name: `./tree/project/${name}.ndjson`,
      content: [value]
        .flat()
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    })),
  ])
}

describe('archives of the reference product', () => {
  test.for([
    ['one project.json', older],
    ['a line for each record', later],
  ] as const)(
    'with %s, everything that has a place is imported, and a mail tells the rest',
    async ([, make], { world }) => {
      const staged = await stage(world)
      const { ann } = staged
      const importer = await world.user({ admin: true })
      const { id, import_status, import_error } = await importOf(world, make(staged), importer)
      expect({ import_status, import_error }).toEqual({ import_status: 'finished', import_error: null })
      const get = async (path: string) => (await importer.get(`/projects/${id}${path}`)).json
      expect(await get('')).toMatchObject({
        description: 'From elsewhere',
        visibility: 'private',
        default_branch: 'main',
        merge_method: 'ff',
        wiki_access_level: 'disabled',
      })
      expect(await get('/issues')).toMatchObject([
        {
          iid: 7,
          title: 'Imported',
          state: 'closed',
          created_at: at,
          author: { id: ann.id },
          assignees: [{ id: ann.id }],
          labels: ['bug', 'of a group'],
          milestone: { title: 'Soon', iid: 4 },
          time_stats: { total_time_spent: 60 },
        },
      ])
      const notes = await get('/issues/7/notes?sort=asc')
      expect(notes.map(({ body, author, system }: any) => [body, author.id === ann.id, system])).toEqual([
        ['By a member', true, false],
        [
          `*Blank note*\n\n *By Gone  Person  on 2019-06-07 08:00:00 UTC (imported from a project archive)*`,
          false,
          false,
        ],
        ['changed the title', true, true],
      ])
      expect(await get('/merge_requests/3')).toMatchObject({
        state: 'merged',
        merge_status: 'can_be_merged',
        merged_by: { id: ann.id },
        source_branch: 'topic',
      })
      expect(await get('/merge_requests/3/notes')).toMatchObject([{ type: 'DiffNote', position: { new_line: 1 } }])
      expect(await get('/merge_requests/3/versions')).toHaveLength(1)
      expect(await get('/members')).toMatchObject([{ access_level: 40 }, { access_level: 40 }])
      expect(await get('/releases')).toMatchObject([{ tag_name: 'v1', name: 'One' }])
      expect(await get('/protected_branches')).toMatchObject([
        { name: 'main', merge_access_levels: [{ access_level: 30 }], push_access_levels: [{ access_level: 40 }] },
      ])
      expect(await get('/boards')).toMatchObject([{ name: 'Board', lists: [{ label: { name: 'bug' } }] }])
      const snippets = await get('/snippets')
      expect(snippets).toMatchObject([
        {
          title: 'A snippet',
          file_name: 'x.rb',
          description: 'Short',
          visibility: 'internal',
          author: { id: ann.id },
          ...times,
        },
      ])
      const [snippet] = snippets
      expect((await importer.get(`/projects/${id}/snippets/${snippet.id}/raw`)).text).toBe('puts 1\n')
      expect(await get(`/snippets/${snippet.id}/notes`)).toMatchObject([
        { body: 'By a member', author: { id: ann.id } },
      ])
      expect(await get(`/snippets/${snippet.id}/award_emoji`)).toMatchObject([{ name: 'tada', user: { id: ann.id } }])
      expect(await get('/uploads')).toMatchObject([{ filename: 'a.txt', size: 8 }])
      expect(await get('/pipelines')).toMatchObject([{ status: 'success' }])
      const mail = (await mailsTo(world, `${importer.username}@example.com`)).at(-1)!
      for (const line of ['services: 2', 'snippets: 1', 'issues: 1', 'issue_notes: 1', 'protected_ref_access: 1'])
        expect(mail.body).toContain(line)
    },
  )

  test('a project.json that is too large for memory is refused, and names the other layout', async ({ world }) => {
    const staged = await stage(world)
    const archive = craft([...staged.rest, { name: 'project.json', content: Buffer.alloc(65 * 1024 * 1024, ' ') }])
    const { import_error } = await importOf(world, archive)
    expect(import_error).toContain('export with the later layout, a line per record')
  })
})
