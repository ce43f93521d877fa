import { expect } from 'vitest'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { test } from '../world.ts'

const names = ['a  b', 'a b', ' a', 'a ', 'a\tb', 'a\nb', 'a\u0001b', 'a\u007fb', 'a\rb']
const actions = [{ action: 'create', file_path: 'new', content: 'x' }]

test.for(names)('the name %j of a branch, tag or protection is refused with that reason', async (name, { world }) => {
  const project = await storedProject(world)
  project.repository.commit({ a: 'a' })
  const at = `/projects/${project.id}`
  const unmade = { message: expect.stringContaining('Branch name is invalid') }
  const calls: readonly (readonly [path: string, input: object, json: object])[] = [
    ['repository/branches', { branch: name, ref: 'main' }, { message: 'Branch name is invalid' }],
    ['repository/tags', { tag_name: name, ref: 'main' }, { message: 'Tag name invalid' }],
    ['repository/tags', { tag_name: name, ref: 'main', message: 'One' }, { message: 'Tag name invalid' }],
    ['releases', { tag_name: name, ref: 'main' }, { message: expect.stringContaining('Tag name invalid') }],
    ['protected_branches', { name }, { message: { name: ['is invalid'] } }],
    ['protected_branches', { name: `${name}*` }, { message: { name: ['is invalid'] } }],
    ['protected_tags', { name }, { message: { name: ['is invalid'] } }],
    ['repository/commits', { branch: name, commit_message: 'x', actions, start_branch: 'main' }, unmade],
    ['repository/files/new', { branch: name, commit_message: 'x', content: 'x', start_branch: 'main' }, unmade],
    [
      'merge_requests',
      { source_branch: name, target_branch: 'main', title: 'x' },
      { message: { source_branch: ['is invalid'] } },
    ],
    [
      'merge_requests',
      { source_branch: 'x', target_branch: name, title: 'x' },
      { message: { target_branch: ['is invalid'] } },
    ],
  ]
  for (const [path, input, json] of calls) {
    expect.soft(await world.root.post(`${at}/${path}`, input), path).toMatchObject({ status: 400, json })
  }
  expect(project.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
})
