import { describe, expect } from 'vitest'
import { type Client, type TestProject, test, type World } from '../../../../test/world.ts'
import { licenseKeyOf } from '../../projects/projects/licenses.ts'
import { shippedTemplates } from './shipped.ts'

const keys = async (who: Client, path: string): Promise<string[]> => {
  const { status, json } = await who.get(`${path}${path.includes('?') ? '&' : '?'}per_page=100`)
  expect(status).toBe(200)
  return json.map(({ key }: { key: string }) => key)
}

async function put(world: World, project: TestProject, files: Record<string, string>): Promise<void> {
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }))
  const made = await world.root.post(`/projects/${project.id}/repository/commits`, {
    branch: 'master',
    commit_message: 'x',
    actions,
  })
  expect(made.status).toBe(201)
}

describe('GET /templates', () => {
  test('gitignore templates are public', async ({ world }) => {
    expect(await keys(world.anonymous, '/templates/gitignores')).toEqual([
      'C++',
      'Go',
      'Java',
      'Node',
      'Python',
      'Ruby',
      'Rust',
    ])
    const one = await world.anonymous.get('/templates/gitignores/C%2B%2B')
    expect(one).toMatchObject({ status: 200, json: { name: 'C++', content: expect.stringContaining('*.o\n') } })
    const paged = await world.anonymous.get('/templates/gitignores?per_page=2&page=2')
    expect([paged.json, paged.headers['x-total']]).toEqual([
      [
        { key: 'Java', name: 'Java' },
        { key: 'Node', name: 'Node' },
      ],
      '7',
    ])
    for (const key of ['none', 'go', '..%2Flicenses%2Fmit', 'constructor'])
      expect(await world.anonymous.get(`/templates/gitignores/${key}`)).toMatchObject({
        status: 404,
        json: { message: '404 Template Not Found' },
      })
  })

  test('pipeline and Dockerfile templates are public, and fill more than a page', async ({ world }) => {
    const page = await world.anonymous.get('/templates/gitlab_ci_ymls')
    expect(page.json).toHaveLength(20)
    expect(page.headers['x-next-page']).toBe('2')
    for (const [kind, all] of [
      ['gitlab_ci_ymls', ['C++', 'Docker', 'Nodejs', 'Python', 'Terraform']],
      ['dockerfiles', ['Golang', 'Node', 'Python']],
    ] as const) {
      expect(await keys(world.anonymous, `/templates/${kind}`)).toEqual(expect.arrayContaining([...all]))
      for (const key of all)
        expect((await world.anonymous.get(`/templates/${kind}/${encodeURIComponent(key)}`)).json).toMatchObject({
          name: key,
          content: expect.stringMatching(kind === 'dockerfiles' ? /^FROM .*\n/ : /\n {2}script:\n/),
        })
    }
  })

  test('licence templates are public, with names filled in', async ({ world }) => {
    const [popular] = [await keys(world.anonymous, '/templates/licenses?popular=true')]
    expect(popular).toEqual(['apache-2.0', 'gpl-3.0', 'mit'])
    expect(await keys(world.anonymous, '/templates/licenses')).toEqual(
      expect.arrayContaining([...popular, 'isc', 'mpl-2.0']),
    )
    const mit = async (query: string, who = world.anonymous) => (await who.get(`/templates/licenses/mit?${query}`)).json
    const year = new Date().getUTCFullYear()
    expect(await mit('')).toMatchObject({
      key: 'mit',
      name: 'MIT License',
      nickname: null,
      popular: true,
      html_url: 'http://choosealicense.com/licenses/mit/',
      content: expect.stringContaining(`Copyright (c) ${year} [fullname]\n`),
    })
    expect((await mit('fullname=Ann%20%24%26')).content).toContain(`Copyright (c) ${year} Ann $&\n`)
    const ann = await world.user()
    expect((await mit('', ann)).content).toContain(`${year} Name of ${ann.username}\n`)
    expect(
      (await world.anonymous.get('/templates/licenses/gpl-3.0?project=Forge&fullname=Ann')).json.content,
    ).toContain(`    Forge\n    Copyright (C) ${year}  Ann\n`)
  })

  test('a licence template is found by its SPDX identifier in any case, as no other template is', async ({ world }) => {
    const project = await world.project()
    for (const at of ['', `/projects/${project.id}`]) {
      const found = await world.root.get(`${at}/templates/licenses/GPL-3.0`)
      expect(found).toMatchObject({ status: 200, json: { key: 'gpl-3.0' } })
      for (const other of ['gitignores/RUBY', 'dockerfiles/RUBY', 'gitlab_ci_ymls/RUBY', 'licenses/none'])
        expect((await world.root.get(`${at}/templates/${other}`)).status).toBe(404)
    }
    await put(world, project, { 'LICENSE/MIT.txt': 'ours' })
    await world.settings({ file_template_project_id: project.id })
    const content = async (key: string) => (await world.root.get(`/templates/licenses/${key}`)).json.content
    expect(await content('MIT')).toBe('ours')
    expect(await content('mit')).toContain('Permission is hereby granted')
  })

  test('the text of each licence template is recognized in projects', async () => {
    for (const { key, read } of shippedTemplates('licenses')) expect(licenseKeyOf(await read())).toBe(key)
  })
})

describe('GET /projects/:id/templates', () => {
  test('templates of a project include those of its groups and of the instance, nearest first', async ({ world }) => {
    const outer = await world.group({ visibility: 'public' })
    const inner = await world.group({ parent: outer, visibility: 'public' })
    const [far, near, all] = [
      await world.project({ group: outer }),
      await world.project({ group: inner }),
      await world.project(),
    ]
    await put(world, far, {
      'gitignore/Go.gitignore': 'far',
      'gitignore/Far.gitignore': 'far',
      'Dockerfile/A.dockerfile': 'FROM a',
    })
    await put(world, near, {
      'gitignore/Go.gitignore': 'near',
      'gitignore/sub/No.gitignore': 'x',
      'gitignore/README': 'x',
    })
    await put(world, all, {
      'gitignore/Far.gitignore': 'all',
      'gitlab-ci/B.yml': 'b',
      'LICENSE/Ours.txt': 'Of {project} <year>',
    })
    for (const [group, project] of [
      [outer, far],
      [inner, near],
    ] as const)
      expect((await world.root.put(`/groups/${group.id}`, { file_template_project_id: project.id })).status).toBe(200)
    await world.settings({ file_template_project_id: all.id })
    const project = await world.project({ group: inner, visibility: 'public' })
    const content = async (path: string) =>
      (await world.anonymous.get(`/projects/${project.id}/templates/${path}`)).json.content
    expect((await keys(world.anonymous, `/projects/${project.id}/templates/gitignores`)).slice(0, 3)).toEqual([
      'Go',
      'Far',
      'C++',
    ])
    expect([await content('gitignores/Go'), await content('gitignores/Far')]).toEqual(['near', 'far'])
    expect([await content('dockerfiles/A'), await content('gitlab_ci_ymls/B')]).toEqual(['FROM a', 'b'])
    expect((await world.anonymous.get('/templates/gitignores/Far')).json.content).toBe('all')
    const ours = await world.anonymous.get(`/projects/${project.id}/templates/licenses/Ours?project=Forge`)
    expect(ours.json).toMatchObject({ key: 'Ours', name: 'Ours', nickname: null, popular: false, html_url: null })
    expect(ours.json.content).toBe(`Of Forge ${new Date().getUTCFullYear()}`)
    await world.settings({ file_template_project_id: null })
    expect(await keys(world.anonymous, `/projects/${project.id}/templates/gitlab_ci_ymls`)).not.toContain('B')
    expect(await content('gitlab_ci_ymls/Go')).toContain('go test')
  })

  test('template projects of a group must be in the group or shared with it', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const [project, template] = [await world.project({ group, visibility: 'public' }), await world.project({ group })]
    await put(world, template, { 'Dockerfile/Ours.dockerfile': 'FROM ours' })
    await world.root.put(`/groups/${group.id}`, { file_template_project_id: template.id })
    const shown = () => keys(world.anonymous, `/projects/${project.id}/templates/dockerfiles`)
    expect(await shown()).toContain('Ours')
    await world.root.put(`/projects/${template.id}/transfer`, { namespace: (await world.group()).id })
    expect(await shown()).not.toContain('Ours')
    await world.root.post(`/projects/${template.id}/share`, { group_id: group.id, group_access: 20 })
    expect(await shown()).toContain('Ours')
    const off = { merge_requests_access_level: 'disabled', builds_access_level: 'disabled' }
    await world.root.put(`/projects/${template.id}`, { repository_access_level: 'disabled', ...off })
    expect(await shown()).not.toContain('Ours')
  })

  test('issue and merge request templates need read access to the code', async ({ world }) => {
    const guest = await world.user()
    const project = await world.project({ members: [[guest, 'guest']] })
    const at = `/projects/${project.id}/templates`
    expect(await keys(world.root, `${at}/issues`)).toEqual([])
    await put(world, project, {
      '.gitlab/issue_templates/Bug.md': 'What broke?',
      '.gitlab/merge_request_templates/Fix.md': 'What is mended?',
    })
    expect(await keys(world.root, `${at}/issues`)).toEqual(['Bug'])
    expect((await world.root.get(`${at}/issues/Bug`)).json).toEqual({ name: 'Bug', content: 'What broke?' })
    expect((await world.root.get(`${at}/merge_requests/Fix`)).json.content).toBe('What is mended?')
    for (const path of [`${at}/issues`, `${at}/issues/Bug`]) expect((await guest.get(path)).status).toBe(403)
    expect(await keys(guest, `${at}/licenses`)).toContain('mit')
    expect(await world.root.get(`${at}/wikis`)).toMatchObject({
      status: 400,
      json: { error: 'type does not have a valid value' },
    })
  })
})
