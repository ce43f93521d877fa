import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import { run } from '../../../../test/programs/run.ts'
import { type Client, git, temporaryFolder, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { storedProject } from '../../repository/commits/testing.ts'

/** A project with a commit on `main`, a clone of it, and a member. */
export async function cloned(world: World, { level = 'maintainer' as Level } = {}) {
  const folder = await temporaryFolder()
  const ann = await world.user()
  const project = await storedProject(world, { visibility: 'private', members: [[ann, level]] })
  const first = project.repository.commit({ 'a.txt': '1' })
  const remote = (who: Client) => world.remote({ url: `${world.origin}/${project.full_path}.git` } as never, who)
  await git(folder.path, 'clone', '-q', remote(ann), 'work')
  const work = `${folder.path}/work`
  const email = (await ann.get('/user')).json.email
  /** Runs git as a committer and author with this address. */
  const gitAs = async (address: string, ...words: string[]) => {
    const env = {
      ...process.env,
      ...{ GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
      ...{ GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: address, GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: address },
    }
    return (await run('git', words, { cwd: work, env })).stdout
  }
  let count = 0
  return {
    ...project,
    ann,
    email,
    first,
    work,
    at: `/projects/${project.id}`,
    rule: async (values: object) => {
      await world.root.delete(`/projects/${project.id}/push_rule`)
      const made = await world.root.post(`/projects/${project.id}/push_rule`, values)
      expect(made.status, made.text).toBe(201)
    },
    gitAs,
    git: (...words: string[]) => gitAs(email, ...words),
    /** Commits a file, and returns the id. */
    async commit(message = 'Change', path = `file-${++count}`, content: string | Buffer = `${count}`) {
      await mkdir(dirname(`${work}/${path}`), { recursive: true })
      await writeFile(`${work}/${path}`, content)
      await gitAs(email, 'add', '-A')
      // Not as an argument, whose length is limited.
      await writeFile(`${work}/.git/message`, message)
      await gitAs(email, 'commit', '-q', '--allow-empty', '--allow-empty-message', '-F', '.git/message')
      return (await gitAs(email, 'rev-parse', 'HEAD')).trim()
    },
    reset: () => git(work, 'reset', '-q', '--hard', first),
    /** `pushed`, or the lines of the refusal. */
    push: (...refs: string[]) =>
      git(work, 'push', '-q', remote(ann), ...refs).then(
        () => 'pushed',
        (error: { stderr: string }) => {
          expect(error.stderr).toContain('(pre-receive hook declined)')
          return error.stderr
            .split('\n')
            .filter((line) => line.startsWith('remote: '))
            .map((line) => line.slice('remote: '.length).trim())
            .filter((line) => line !== '')
        },
      ),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
