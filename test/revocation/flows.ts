import { join } from 'node:path'
import type { Oid } from '../../src/git/format/oid.ts'
import { bringRepository } from '../../src/modules/lifecycle/forks/testing.ts'
import { copyTemplate } from '../../src/modules/lifecycle/project-creation/jobs.ts'
import { batch, follow, oidOf, upload } from '../../src/modules/pushes/large-files/testing.ts'
import type { StoredProject } from '../../src/modules/repository/commits/testing.ts'
import { storedRepository } from '../../src/modules/review/merge-requests/testing.ts'
import { checkMergeability } from '../../src/modules/review/merging/check.ts'
import { rebaseSource } from '../../src/modules/review/merging/rebase.ts'
import { afterPush } from '../../src/modules/review/merging/testing.ts'
import { contextFor } from '../contexts.ts'
import { gitSsh, sshUrl } from '../ssh.ts'
import { addLargeFile, isLargeFileOf } from '../tables/pushes.ts'
import { type Answer, type Client, git, unique } from '../world.ts'
import type { Need } from './rights.ts'
import { holds, publish, type Stage } from './stage.ts'

/** A flow that has begun. */
type Running = {
  /** What happens before each attempt, and before the revocation. */
  readonly arm?: () => Promise<unknown>
  /** Publishes something new and does the next step. Returns whether something new moved between the projects. */
  readonly attempt: () => Promise<boolean>
}

/** A way for something to get from one project to another, or to a user. */
export type Flow = {
  readonly name: string
  /** What ann needs in the guarded project for each attempt. */
  readonly needs: readonly Need[]
  readonly begin: (stage: Stage, branch: string) => Promise<Running>
}

type Opened = { readonly id: number; readonly at: string }

function expectStatus(answer: Answer, status: number): any {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`)
  return answer.json
}

/** A merge request opened by a user. */
async function open(
  who: Client,
  {
    from,
    into,
    branch,
    target = 'main',
    ...more
  }: {
    from: StoredProject
    into: StoredProject
    branch: string
    target?: string
    [attribute: string]: unknown
  },
): Promise<Opened> {
  const { id, iid } = expectStatus(
    await who.post(`/projects/${from.id}/merge_requests`, {
      source_branch: branch,
      target_branch: target,
      target_project_id: into.id,
      title: branch,
      ...more,
    }),
    201,
  )
  return { id, at: `/projects/${into.id}/merge_requests/${iid}` }
}

/** A merge request by ann from a branch of the guarded project into ann's fork. */
async function toFork(stage: Stage, branch: string): Promise<Opened> {
  publish(stage, branch)
  return open(stage.ann, { from: stage.guarded, into: stage.fork, branch })
}

/** An attempt that publishes a commit, does a step, and looks for the commit in ann's fork. */
const reachesFork = (stage: Stage, branch: string, step: (oid: Oid) => Promise<unknown>) => async () => {
  const oid = publish(stage, branch)
  await step(oid)
  return holds(stage.fork, oid)
}

/** What a new project gets from the guarded one: ann requests it before each attempt or during it. */
function copying(create: (stage: Stage) => Promise<Answer>, fill: (stage: Stage, id: number) => Promise<void>) {
  const attempt = async (stage: Stage, made: Answer, oid: Oid) => {
    if (made.status !== 201) return false
    await fill(stage, made.json.id)
    return holds(await storedRepository(stage.world, made.json), oid)
  }
  return {
    atOnce: async (stage: Stage, branch: string): Promise<Running> => ({
      attempt: async () => {
        const oid = publish(stage, branch)
        return attempt(stage, await create(stage), oid)
      },
    }),
    later: async (stage: Stage, branch: string): Promise<Running> => {
      let made: Answer
      return {
        arm: async () => expectStatus((made = await create(stage)), 201),
        attempt: () => attempt(stage, made, publish(stage, branch)),
      }
    },
  }
}

const forking = copying(
  ({ ann, guarded }) => ann.post(`/projects/${guarded.id}/fork`, { name: unique('Fork'), path: unique('fork') }),
  ({ world }, id) => bringRepository(world, id),
)

const template = copying(
  ({ ann, guarded, group }) =>
    ann.post('/projects', {
      path: unique('made'),
      use_custom_template: true,
      template_project_id: guarded.id,
      group_with_project_templates_id: group.id,
    }),
  async ({ world }, id) => {
    const [job] = await world.jobs(`copy_template:${id}`)
    await copyTemplate.run(job!.payload, await contextFor(world, null))
  },
)

/** Steps on a merge request from the guarded project into ann's fork, whose branch has moved. */
const updating =
  (step: (stage: Stage, opened: Opened) => Promise<unknown>): Flow['begin'] =>
  async (stage, branch) => {
    const opened = await toFork(stage, branch)
    return { attempt: reachesFork(stage, branch, () => step(stage, opened)) }
  }

/** Calls that read the guarded project itself. */
const reading = (path: (oid: Oid, branch: string) => string): Flow => ({
  name: `read ${path('SHA' as Oid, 'branch')}`,
  needs: ['read', 'token'],
  begin: async (stage, branch) => ({
    attempt: async () => {
      const word = unique('secret').replaceAll('-', '')
      const oid = publish(stage, branch, { [`${word}.txt`]: `${word}\n` })
      const answer = await stage.ann.get(`/projects/${stage.guarded.id}${path(oid, branch).replace('WORD', word)}`)
      return answer.status === 200 && answer.text.includes(word)
    },
  }),
})

/** Pushes of one user to a branch of another's, which a merge request allows. */
const collaborating = (
  name: string,
  push: (stage: Stage, who: Client, to: StoredProject, branch: string) => Promise<boolean>,
  { bySsh = false } = {},
): Flow[] => [
  {
    name: `collaborate ${name}, in the fork of another user`,
    needs: bySsh ? ['push'] : ['push', 'token'],
    async begin(stage, branch) {
      const { danFork, dan, guarded } = stage
      danFork.repository.commit({ [branch]: 'x\n' }, { branch, parents: [mainOf(danFork)] })
      await open(dan, { from: danFork, into: guarded, branch, allow_collaboration: true })
      return { attempt: () => push(stage, stage.ann, danFork, branch) }
    },
  },
  ...(bySsh
    ? []
    : [
        {
          name: `let another user collaborate ${name}`,
          needs: ['push'],
          async begin(stage: Stage, branch: string) {
            publish(stage, branch)
            const { guarded, fork, ann, dan } = stage
            await open(ann, { from: guarded, into: fork, branch, allow_collaboration: true })
            return { attempt: () => push(stage, dan, guarded, branch) }
          },
        } as const satisfies Flow,
      ]),
]

const mainOf = ({ repository }: StoredProject) => repository.git('rev-parse', 'main') as Oid

async function viaGit(stage: Stage, to: StoredProject, branch: string, push: (work: string) => Promise<boolean>) {
  const work = join(stage.folder, unique('work'))
  await git(stage.folder, 'clone', '-q', '-b', branch, to.repository.gitDir, work)
  await git(work, 'commit', '-q', '--allow-empty', '-m', 'Help')
  return push(work)
}

const urlOf = ({ world, guarded }: Stage): string => sshUrl(world, guarded)

/** Runs git with the deploy key of the guarded project. */
const withDeployKey = ({ world, deployKey }: Stage, folder: string, ...words: string[]) =>
  gitSsh(world, deployKey!, folder, ...words)

const linked = ({ world, fork }: Stage, content: string): Promise<boolean> =>
  isLargeFileOf(world, fork.id, oidOf(content))

/** A large file of the guarded project, as far as the database knows. */
async function addFile({ world, guarded }: Stage): Promise<string> {
  const content = unique('large')
  await addLargeFile(world, guarded.id, oidOf(content), content.length)
  return content
}

const pointerTo = (content: string) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`

export const flows: readonly Flow[] = [
  reading((oid) => `/repository/commits/${oid}/diff`),
  reading((oid) => `/repository/compare?from=main&to=${oid}`),
  reading((_, branch) => `/repository/files/WORD.txt/raw?ref=${branch}`),
  reading((_, branch) => `/repository/tree?ref=${branch}&per_page=100`),
  reading((_, branch) => `/search?scope=blobs&search=WORD&ref=${branch}`),
  {
    name: 'list refs over SSH with a deploy key',
    needs: ['deploy_key_read'],
    begin: async (stage, branch) => ({
      attempt: async () => {
        const oid = publish(stage, branch)
        return (await withDeployKey(stage, stage.folder, 'ls-remote', urlOf(stage))).out.includes(oid)
      },
    }),
  },
  {
    name: 'push over SSH with a deploy key',
    needs: ['deploy_key_push'],
    begin: async (stage, branch) => {
      publish(stage, branch)
      return {
        attempt: () =>
          viaGit(
            stage,
            stage.guarded,
            branch,
            async (work) =>
              (await withDeployKey(stage, work, 'push', '-q', urlOf(stage), `HEAD:refs/heads/${unique('pushed')}`))
                .code === 0,
          ),
      }
    },
  },
  { name: 'fork', needs: ['read', 'token'], begin: forking.atOnce },
  { name: 'fill a fork that was requested before', needs: ['read'], begin: forking.later },
  { name: 'create from a template', needs: ['read', 'token'], begin: template.atOnce },
  { name: 'fill a project that was requested from a template before', needs: ['read'], begin: template.later },
  {
    name: 'open a merge request',
    needs: ['push', 'token'],
    async begin(stage) {
      return {
        attempt: async () => {
          const branch = unique('opened')
          return reachesFork(stage, branch, () =>
            stage.ann.post(`/projects/${stage.guarded.id}/merge_requests`, {
              source_branch: branch,
              target_branch: 'main',
              target_project_id: stage.fork.id,
              title: branch,
            }),
          )()
        },
      }
    },
  },
  {
    name: 'update a merge request after a push',
    needs: ['read'],
    begin: updating(({ world, guarded }) => afterPush(world, guarded)),
  },
  {
    name: 'check whether a merge request can be merged',
    needs: ['read'],
    begin: updating(async ({ world }, { id }) =>
      checkMergeability.run({ mergeRequestId: id }, await contextFor(world, null)),
    ),
  },
  { name: 'read the merge ref', needs: ['read'], begin: updating(({ dan }, { at }) => dan.get(`${at}/merge_ref`)) },
  {
    name: 'change the target branch',
    needs: ['read'],
    begin: updating(async ({ dan, fork }, { at }) => {
      const target = unique('target')
      fork.repository.git('branch', target, 'main')
      await dan.put(at, { target_branch: target })
    }),
  },
  {
    name: 'merge',
    needs: ['read'],
    async begin(stage, branch) {
      const branches = [`${branch}-1`, `${branch}-2`]
      const opened = [await toFork(stage, branches[0]!), await toFork(stage, branches[1]!)]
      return {
        attempt: () => reachesFork(stage, branches.shift()!, () => stage.dan.put(`${opened.shift()!.at}/merge`))(),
      }
    },
  },
  {
    name: 'reopen a merge request',
    needs: ['read'],
    async begin(stage, branch) {
      const { at } = await toFork(stage, branch)
      return {
        arm: () => stage.dan.put(at, { state_event: 'close' }),
        attempt: reachesFork(stage, branch, () => stage.dan.put(at, { state_event: 'reopen' })),
      }
    },
  },
  {
    name: 'read the pipelines of a merge request',
    needs: ['read', 'token'],
    async begin(stage, branch) {
      const { at } = await toFork(stage, branch)
      const sha = stage.guarded.repository.git('rev-parse', branch)
      return {
        attempt: async () => {
          const status = { state: 'success', ref: branch, name: unique('status') }
          await stage.world.root.post(`/projects/${stage.guarded.id}/statuses/${sha}`, status)
          const { json } = await stage.ann.get(`${at}/pipelines`)
          return Array.isArray(json) && json.length > 0
        },
      }
    },
  },
  {
    name: 'rebase a branch of the fork',
    needs: ['read', 'token'],
    begin: (stage, branch) => rebasing(stage, branch, 'at once'),
  },
  {
    name: 'rebase as requested before',
    needs: ['read'],
    begin: (stage, branch) => rebasing(stage, branch, 'later'),
  },
  ...(['start_branch', 'start_sha'] as const).map(
    (by): Flow => ({
      name: `commit from the ${by} of another project`,
      needs: ['read', 'token'],
      begin: async (stage, branch) => ({
        attempt: reachesFork(stage, branch, (oid) =>
          stage.ann.post(`/projects/${stage.fork.id}/repository/commits`, {
            branch: unique('started'),
            start_project: stage.guarded.id,
            [by]: by === 'start_sha' ? oid : branch,
            commit_message: 'Begin',
            actions: [{ action: 'create', file_path: unique('new'), content: 'x' }],
          }),
        ),
      }),
    }),
  ),
  ...collaborating('through the commits API', async (_, who, { id }, branch) => {
    const actions = [{ action: 'create', file_path: unique('new'), content: 'x' }]
    const commit = { branch, commit_message: 'Help', actions }
    return (await who.post(`/projects/${id}/repository/commits`, commit)).status === 201
  }),
  ...collaborating('through the files API', async (_, who, { id }, branch) => {
    const file = { branch, commit_message: 'Help', content: 'x' }
    return (await who.post(`/projects/${id}/repository/files/${unique('new')}`, file)).status === 201
  }),
  ...collaborating('through git over HTTP', (stage, who, to, branch) =>
    viaGit(stage, to, branch, (work) =>
      git(
        work,
        'push',
        '-q',
        stage.world.remote({ url: `${stage.world.origin}/${to.full_path}.git` } as never, who),
        branch,
      ).then(
        () => true,
        () => false,
      ),
    ),
  ),
  ...collaborating(
    'through git over SSH',
    (stage, _, to, branch) =>
      viaGit(stage, to, branch, async (work) => {
        if (!stage.key) throw new Error('this flow needs OpenSSH')
        return (await gitSsh(stage.world, stage.key, work, 'push', '-q', sshUrl(stage.world, to), branch)).code === 0
      }),
    { bySsh: true },
  ),
  ...collaborating(
    'with large files',
    async (_, who, to) => (await batch(who, to, 'upload', [unique('large')])).status === 200,
  ),
  {
    name: 'claim a large file for the fork',
    needs: ['read', 'token'],
    begin: async (stage) => ({
      attempt: async () => {
        const content = await addFile(stage)
        await batch(stage.ann, stage.fork, 'upload', [content])
        return linked(stage, content)
      },
    }),
  },
  {
    name: 'download a large file of the source through the fork',
    needs: ['read', 'token'],
    begin: async (stage) => ({
      attempt: async () => {
        const content = await addFile(stage)
        const answer = await batch(stage.ann, stage.fork, 'download', [content])
        return answer.json?.objects?.[0]?.actions !== undefined
      },
    }),
  },
  {
    name: 'follow a link to a large file from before',
    needs: ['read'],
    async begin(stage) {
      let action: { href: string }
      return {
        arm: async () => {
          const content = unique('large')
          await upload(stage.world.root, stage.guarded, content)
          action = (await batch(stage.ann, stage.guarded, 'download', [content])).json.objects[0].actions.download
        },
        attempt: async () => (await follow(stage.ann, 'GET', action)).status === 200,
      }
    },
  },
  {
    name: 'merge large files',
    needs: ['read'],
    async begin(stage, branch) {
      const made: { at: string; content: string }[] = []
      for (const name of [`${branch}-1`, `${branch}-2`]) {
        const content = await addFile(stage)
        publish(stage, name, { '.gitattributes': '*.bin filter=lfs\n', [`${name}.bin`]: pointerTo(content) })
        made.push({ at: (await open(stage.ann, { from: stage.guarded, into: stage.fork, branch: name })).at, content })
      }
      return {
        attempt: async () => {
          const { at, content } = made.shift()!
          await stage.dan.put(`${at}/merge`)
          return linked(stage, content)
        },
      }
    },
  },
]

/** A rebase of a branch of ann's fork onto one of the guarded project, which is requested before the new commit or after it. */
async function rebasing(stage: Stage, branch: string, when: 'at once' | 'later'): Promise<Running> {
  const { fork, guarded, ann, world } = stage
  publish(stage, branch)
  fork.repository.commit({ [branch]: 'x\n' }, { branch, parents: [mainOf(fork)] })
  const { id, at } = await open(ann, { from: fork, into: guarded, branch, target: branch })
  const request = () => stage.ann.put(`${at}/rebase`)
  const attempt = reachesFork(stage, branch, async () => {
    if (when === 'at once') await request()
    await rebaseSource.run({ mergeRequestId: id, actorId: ann.id }, await contextFor(world, null))
  })
  return when === 'at once' ? { attempt } : { arm: request, attempt }
}
