import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Packets } from '../format/packets.ts'
import { TestGit, type TestRepository } from '../testing.ts'
import { refsForPush } from './advertised-refs.ts'
import { listedRefs } from './listed-refs.ts'

let testGit: TestGit

beforeAll(async () => {
  testGit = await TestGit.start()
})
afterAll(() => testGit[Symbol.asyncDispose]())

const packet = (text: string) => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`

const request = (...words: string[]): Buffer =>
  Buffer.from(
    `${packet('command=ls-refs\n')}${packet('agent=test\n')}${packet('object-format=sha1')}0001${words.map((word) => packet(`${word}\n`)).join('')}0000`,
  )

/** What git says, with our settings. */
async function saidByGit(args: readonly string[], input: Buffer | undefined): Promise<string> {
  const child = await testGit.runner.start([...args], {
    lane: 'short',
    owner: '',
    caller: '',
    timeoutMs: 60_000,
    stdin: input !== undefined,
    env: { GIT_PROTOCOL: 'version=2' },
  })
  if (input) child.end(input)
  let said = ''
  for await (const chunk of child) said += chunk
  await child.done
  return said
}

const requests: readonly (readonly string[])[] = [
  [],
  ['peel'],
  ['symrefs'],
  ['unborn'],
  ['peel', 'symrefs', 'unborn'],
  ['peel', 'symrefs', 'unborn', 'ref-prefix HEAD', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/'],
  ['ref-prefix refs/tags/'],
  ['ref-prefix refs/heads/t'],
  ['ref-prefix HEAD'],
  ['ref-prefix refs/'],
  ['ref-prefix r'],
  ['ref-prefix refs/headsx'],
  ['ref-prefix refs/merge-requests/1/head', 'ref-prefix refs/heads/main'],
  ['ref-prefix main', 'ref-prefix refs/main', 'ref-prefix refs/tags/main', 'ref-prefix refs/heads/main', 'peel'],
  ['ref-prefix '],
]

/** Compares all requests; returns those that are answered without git. */
async function compared({ repo, gitDir }: TestRepository): Promise<readonly string[]> {
  const answered: string[] = []
  for (const words of requests) {
    const bytes = request(...words)
    const answer = await listedRefs(repo, new Packets().push(bytes))
    if (!answer) continue
    answered.push(words.join())
    expect(answer.toString(), words.join()).toBe(
      await saidByGit(['upload-pack', '--strict', '--stateless-rpc', gitDir], bytes),
    )
  }
  const forPush = await refsForPush(repo)
  if (forPush) {
    answered.push('push')
    const args = ['receive-pack', '--stateless-rpc', '--http-backend-info-refs', gitDir]
    expect(forPush.toString()).toBe(await saidByGit(args, undefined))
  }
  return answered
}

const allAnswered = requests.length + 1

describe('refs from their files are those that git lists, in its words', () => {
  test('of an empty repository', async () => {
    expect(await compared(await testGit.repository())).toHaveLength(allAnswered)
  })

  test('of branches and tags, loose and packed, with names of any kind', async () => {
    const repository = await testGit.repository()
    const first = repository.commit({ a: 'a' })
    for (const name of ['topic', 'a/b/c', 'headsx', 'ä', 'zz.lock2', '\u{1f600}', '\uff5e'])
      repository.git('update-ref', `refs/heads/${name}`, first)
    repository.git('-c', 'user.name=A', '-c', 'user.email=a@b', 'tag', '-am', 'One', 'v1', first)
    repository.git('-c', 'user.name=A', '-c', 'user.email=a@b', 'tag', '-am', 'Two', 'v1-again', 'v1')
    repository.git('tag', 'light', first)
    expect(await compared(repository)).toHaveLength(allAnswered)
    repository.git('pack-refs', '--all')
    repository.commit({ a: 'b' })
    expect(await compared(repository)).toHaveLength(allAnswered)
    repository.git('symbolic-ref', 'HEAD', 'refs/heads/not-yet')
    expect(await compared(repository)).toHaveLength(allAnswered)
  })

  test('with hidden refs, and those of merge requests, which only git lists', async () => {
    const repository = await testGit.repository()
    const first = repository.commit({ a: 'a' })
    repository.git('update-ref', `refs/keep-around/${first}`, first)
    repository.git('update-ref', 'refs/merge-requests/1/head', first)
    const withoutThose = 6 + 1
    expect(await compared(repository)).toHaveLength(withoutThose)
    repository.git('pack-refs', '--all')
    expect(await compared(repository)).toHaveLength(withoutThose)
  })

  test('with other refs, detached heads and tags of files, which only git lists', async () => {
    const repository = await testGit.repository()
    const first = repository.commit({ a: 'a' })
    repository.git('tag', 'file', `${first}:a`)
    const answered = await compared(repository)
    expect(answered).toContain('symrefs')
    expect(answered).not.toContain('peel')
    repository.git('update-ref', '--no-deref', 'HEAD', first)
    expect(await compared(repository)).not.toContain('symrefs')
    repository.git('update-ref', 'refs/notes/commits', first)
    expect(await compared(repository)).toEqual([])
  })
})
