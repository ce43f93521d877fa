import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'
import { shippedTemplates } from '../templates/shipped.ts'
import { checkInThread } from './check.ts'

describe('POST /ci/lint', () => {
  test('a valid pipeline is valid, with its extends merged', async ({ world }) => {
    const ann = await world.user()
    const content =
      '.base: {image: node, variables: {A: 1}}\ntest:\n  extends: .base\n  script: [npm test]\n  variables: {B: 2}\n'
    expect(await ann.post('/ci/lint', { content })).toMatchObject({
      status: 200,
      json: {
        valid: true,
        status: 'valid',
        errors: [],
        warnings: [],
        merged_yaml: expect.stringMatching(/test:\n {2}image: node\n {2}variables:\n {4}A: 1\n {4}B: 2\n {2}script:/),
      },
    })
  })

  test.for([
    ['', 'Please provide content of .gitlab-ci.yml'],
    ['- a', 'Invalid configuration format'],
    ['a: [', /line 1/],
    ['.hidden: {script: x}', 'jobs config should contain at least one visible job'],
    ['a: {stage: test}', 'jobs:a config should implement the script:, run:, or trigger: keyword'],
    ['a: {script: x, colour: red}', 'jobs:a config contains unknown keys: colour'],
    ['a: {script: [{x: y}]}', /^jobs:a:script config should be a string/],
    ['a: {script: x, stage: ship}', /^a job: chosen stage ship does not exist; available stages are .pre, build, test/],
    ['a: {script: x, needs: [b]}', 'a job: undefined need: b'],
    ['a: {script: x, extends: .b}', 'a: unknown keys in `extends` (.b)'],
    ['.b: {extends: a}\na: {script: x, extends: .b}', /circular dependency detected in `extends`/],
    ['a: {script: x, needs: [b]}\nb: {script: x, needs: [a]}', 'The pipeline has circular dependencies: a, b'],
    ['a: {script: !reference [.b, script]}', '!reference [".b","script"] could not be found'],
    [
      'a: {script: !reference [b, script]}\nb: {script: !reference [a, script]}',
      '!reference ["a","script"] is part of a circular chain',
    ],
    ['a: {script: !reference [.b]}\n.b: {x: y}', /^jobs:a:script config should be a string/],
    ['include: other.yml\na: {script: x}', /Local file `other.yml` does not have project!/],
  ] as const)('the pipeline %j is invalid: %s', async ([content, error], { world }) => {
    const { status, json } = await world.root.post('/ci/lint', { content })
    expect([status, json.valid, json.status]).toEqual([200, false, 'invalid'])
    expect(json.errors).toContainEqual(typeof error === 'string' ? error : expect.stringMatching(error))
  })

  test('unknown names are no errors when an include cannot be read', async ({ world }) => {
    const content = 'include: {template: Go.gitlab-ci.yml}\na: {script: x, extends: .b, stage: ship, needs: [c]}'
    expect((await world.root.post('/ci/lint', { content })).json).toMatchObject({
      valid: true,
      warnings: [expect.stringContaining('Go.gitlab-ci.yml')],
    })
  })

  const nine = (name: string) => `[${Array(9).fill(name).join(',')}]`
  test.for([
    ['nested lists', 'a: '.concat('['.repeat(30_000)), /nested more than 50 levels/],
    [
      'aliases that expand without end',
      Array.from({ length: 30 }, (_, at) => `a${at}: &a${at} ${nine(at === 0 ? 'x' : `*a${at - 1}`)}`).join('\n'),
      /expand to too much/,
    ],
    [
      'references that expand without end',
      `${Array.from({ length: 9 }, (_, at) => `.a${at}: ${nine(at === 0 ? 'x' : `!reference [.a${at - 1}]`)}`).join('\n')}\na: {script: !reference [.a8]}`,
      /too complex/,
    ],
    [
      'a long text in many jobs',
      `.a: {script: ${'x'.repeat(20_000)}}\n${Array.from({ length: 1500 }, (_, at) => `a${at}: {extends: .a}`).join('\n')}`,
      /merged configuration is too long/,
    ],
    ['thousands of errors', `a: [${','.repeat(65_000)}`, /^Unexpected , in flow sequence at line 1, column 6$/],
    ['a large file', 'x'.repeat(70_000), /larger than 65536 bytes/],
    ['a prototype', '__proto__: {script: x, extends: __proto__}', /__proto__|visible job/],
  ] as const)('hostile YAML is refused: %s', async ([, content, error], { world }) => {
    const { status, json } = await world.root.post('/ci/lint', { content })
    expect(status).toBe(200)
    expect(json.errors).toContainEqual(expect.stringMatching(error))
    expect(({} as { script?: string }).script).toBeUndefined()
  })

  test('a reference is replaced by the value that it names', async ({ world }) => {
    const content =
      '.setup: {script: [install, !reference [.tools, script]]}\n.tools: {script: tools}\na: {script: [!reference [.setup, script], test]}'
    expect((await world.root.post('/ci/lint', { content, include_jobs: true })).json).toMatchObject({
      valid: true,
      merged_yaml: expect.stringContaining('a:\n  script:\n    - - install\n      - tools\n    - test\n'),
      jobs: [{ name: 'a', stage: 'test', script: ['install', 'tools', 'test'] }],
    })
  })

  test('lists the jobs, with what they inherit, if asked to', async ({ world }) => {
    const content = `default: {before_script: [prepare], tags: [fast]}
build: {stage: build, script: make, when: manual}
ship: {script: [ship], before_script: [], needs: [build], environment: {name: live}}`
    const { json } = await world.root.post('/ci/lint', { content, include_jobs: true })
    const usual = { after_script: [], tag_list: ['fast'], environment: null, when: 'on_success', allow_failure: false }
    expect(json.jobs).toEqual([
      {
        ...usual,
        name: 'build',
        stage: 'build',
        before_script: ['prepare'],
        script: ['make'],
        when: 'manual',
        allow_failure: true,
        needs: [],
      },
      {
        ...usual,
        name: 'ship',
        stage: 'test',
        before_script: [],
        script: ['ship'],
        environment: 'live',
        needs: ['build'],
      },
    ])
    expect((await world.root.post('/ci/lint', { content })).json).not.toHaveProperty('jobs')
  })

  test('a check that exceeds its timeout ends with an error', async () => {
    const never = new Promise<never>(() => {})
    const check = checkInThread({ text: 'include: a.yml', includeJobs: false }, () => never, { timeoutMs: 1 })
    expect(await check).toMatchObject({ errors: ['the configuration is too complex'], mergedYaml: null })
  })

  test('a thread is started only for a configuration that has to be parsed', async ({ world }) => {
    let threads = 0
    const count = () => threads++
    process.on('worker', count)
    try {
      for (const [content, started] of [
        ['x'.repeat(70_000), 0],
        [' \n', 0],
        ['a: {script: x}', 1],
      ] as const) {
        expect((await world.root.post('/ci/lint', { content })).status).toBe(200)
        expect([content.slice(0, 20), threads]).toEqual([content.slice(0, 20), started])
      }
    } finally {
      process.off('worker', count)
    }
  })

  test('401 without an account', async ({ world }) => {
    expect((await world.anonymous.post('/ci/lint', { content: 'a: {script: x}' })).status).toBe(401)
  })

  test('every built-in pipeline template is valid', async ({ world }) => {
    for (const { key, read } of shippedTemplates('gitlab_ci_ymls'))
      expect([key, (await world.root.post('/ci/lint', { content: await read() })).json.errors]).toEqual([key, []])
  })
})

describe('/projects/:id/ci/lint', () => {
  test('the configuration of a branch is checked, with local files that it includes', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({
      '.gitlab-ci.yml': 'include: [/ci/jobs.yml, {local: ci/base.yml}]\nbuild: {extends: .base}\n',
      'ci/jobs.yml': 'include: ci/base.yml\ntest: {script: x}\n',
      'ci/base.yml': 'include: ci/jobs.yml\n.base: {script: make}\n',
    })
    repository.commit(
      { '.gitlab-ci.yml': 'include: gone.yml\nbuild: {script: x}\n' },
      { branch: 'broken', parents: [] },
    )
    const found = await world.anonymous.get(`/projects/${id}/ci/lint`)
    expect(found.json).toMatchObject({
      valid: true,
      includes: [
        { type: 'local', location: 'ci/jobs.yml' },
        { type: 'local', location: 'ci/base.yml' },
      ],
      merged_yaml: expect.stringContaining('build:\n  script: make\n'),
    })
    expect((await world.root.get(`/projects/${id}/ci/lint?content_ref=broken`)).json).toMatchObject({
      valid: false,
      errors: ['Included file `gone.yml`: Local file `gone.yml` does not exist!'],
    })
    expect((await world.root.get(`/projects/${id}/ci/lint?sha=none`)).status).toBe(404)
    const content = 'include: ci/base.yml\nship: {extends: .base}'
    expect((await world.root.post(`/projects/${id}/ci/lint`, { content })).json.valid).toBe(true)
  })

  test('the file that the project names is checked', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    repository.commit({ 'ci/main.yml': 'here: {script: x}\n', '.gitlab-ci.yml': 'usual: {script: x}\n' })
    await world.root.put(`/projects/${id}`, { ci_config_path: 'ci/main.yml' })
    const lint = async () => (await world.root.get(`/projects/${id}/ci/lint?include_jobs=true`)).json
    expect((await lint()).jobs).toMatchObject([{ name: 'here' }])
    await world.root.put(`/projects/${id}`, { ci_config_path: 'main.yml@other/project' })
    expect((await lint()).errors).toEqual(['The configuration `main.yml@other/project` is not a file of this project'])
    await world.root.put(`/projects/${id}`, { ci_config_path: '' })
    expect((await lint()).jobs).toMatchObject([{ name: 'usual' }])
  })

  test('included files are refused beyond 512 KiB in total', async ({ world }) => {
    const { id, repository } = await storedProject(world)
    const names = Array.from({ length: 10 }, (_, at) => `${at}.yml`)
    const large = `.a: {script: ${'x'.repeat(60_000)}}\n`
    repository.commit(Object.fromEntries(names.map((name) => [name, large])))
    const content = `include: [${names}]\na: {script: x}`
    expect((await world.root.post(`/projects/${id}/ci/lint`, { content })).json.errors).toEqual([
      'the included files are larger than 524288 bytes together',
    ])
  })

  test('a configuration of more than 64 KiB is invalid because of its size, in the repository as in the request', async ({
    world,
  }) => {
    const { id, repository } = await storedProject(world)
    const content = `a: {script: ${'x'.repeat(64 * 1024)}}\n`
    repository.commit({ '.gitlab-ci.yml': content })
    const errors = ['the file is larger than 65536 bytes']
    expect((await world.root.post(`/projects/${id}/ci/lint`, { content })).json).toMatchObject({ valid: false, errors })
    expect((await world.root.get(`/projects/${id}/ci/lint`)).json).toMatchObject({ valid: false, errors })
    const included = await world.root.post(`/projects/${id}/ci/lint`, { content: 'include: .gitlab-ci.yml' })
    expect(included.json.errors).toContain(`Included file \`.gitlab-ci.yml\`: ${errors[0]}`)
  })

  test('400 for a dry run, which is not supported', async ({ world }) => {
    const { id } = await world.project()
    expect((await world.root.get(`/projects/${id}/ci/lint?dry_run=true`)).status).toBe(400)
    const content = 'a: {script: x}'
    expect((await world.root.post(`/projects/${id}/ci/lint`, { content, dry_run: true })).status).toBe(400)
    expect((await world.root.post(`/projects/${id}/ci/lint`, { content, dry_run: false })).json.valid).toBe(true)
  })

  test('a project without a configuration is invalid', async ({ world }) => {
    const { id } = await world.project()
    expect((await world.root.get(`/projects/${id}/ci/lint`)).json).toMatchObject({
      valid: false,
      errors: ['Please provide content of .gitlab-ci.yml'],
      merged_yaml: null,
    })
  })
})
