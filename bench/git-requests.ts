import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked } from './load.ts'
import { git, gitEnv } from './repository.ts'
import { repositoryProject, rootToken } from './world.ts'

const repositoryUrl = `/group-1/project-${repositoryProject}.git`

/** Requests of Git over HTTP, prepared so that the measurement needs no git client. */
export type GitRequests = {
  readonly listings: readonly Asked[]
  /** Each fetches the last ten commits. */
  readonly pulls: readonly Asked[]
  readonly pushes: readonly Asked[]
  /** The next `count` pushes. Each creates a branch with a commit of its own, so each can be sent only once. */
  takePushes(count: number): Asked[]
}

const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text

/** Reads `repository`; empties and fills `folder`. */
export function makeGitRequests(repository: string, folder: string, pushes: number): GitRequests {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const authorization = `Basic ${Buffer.from(`root:${rootToken}`).toString('base64')}`
  const protocol = { authorization, 'git-protocol': 'version=2' }
  const posted = (service: string, name: string, body: string | Buffer, headers: Record<string, string>): Asked => {
    const bodyFile = join(folder, name)
    writeFileSync(bodyFile, body)
    return {
      method: 'POST',
      path: `${repositoryUrl}/git-${service}`,
      headers: { 'content-type': `application/x-git-${service}-request`, ...headers },
      bodyFile,
    }
  }
  const tip = git(repository, 'rev-parse', 'main')
  const listing = `${line('command=ls-refs\n')}${line('object-format=sha1')}0001${line('peel\n')}${line('symrefs\n')}${line('ref-prefix refs/heads/\n')}0000`
  const wanted = [`want ${tip}\n`, `have ${git(repository, 'rev-parse', 'main~10')}\n`, 'ofs-delta\n', 'done\n']
  const pull = `${line('command=fetch\n')}${line('object-format=sha1')}0001${line('thin-pack\n')}${wanted.map(line).join('')}0000`
  const run = `${process.pid}-${Date.now()}`
  const sent = Array.from({ length: pushes }, (_, index) => {
    const { oid, pack } = packOfCommit(repository, folder, tip, `${run}-${index}`)
    const command = `${'0'.repeat(40)} ${oid} refs/heads/bench/${run}/${index}\0report-status side-band-64k agent=git/2.39\n`
    const body = Buffer.concat([Buffer.from(`${line(command)}0000`), pack])
    return posted('receive-pack', `push-${index}`, body, { authorization })
  })
  let taken = 0
  return {
    listings: [posted('upload-pack', 'listing', listing, protocol)],
    pulls: [posted('upload-pack', 'pull', pull, protocol)],
    pushes: sent,
    takePushes(count) {
      taken += count
      if (taken > sent.length) throw new Error('not enough pushes were prepared')
      return sent.slice(taken - count, taken)
    },
  }
}

/** A commit on top of `tip` that changes one file, and its pack. Its objects stay in `folder`. */
function packOfCommit(repository: string, folder: string, tip: string, text: string): { oid: string; pack: Buffer } {
  const env = {
    ...gitEnv,
    GIT_DIR: repository,
    GIT_OBJECT_DIRECTORY: folder,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(repository, 'objects'),
  }
  const run = (args: string[], input: string | Buffer): Buffer =>
    execFileSync('git', args, { env, input, maxBuffer: 1e8 })
  const blob = run(['hash-object', '-w', '--stdin'], `${text}\n`).toString().trim()
  const entries = run(['ls-tree', tip], '').toString()
  const tree = run(['mktree'], entries.replace(/blob \w+\tREADME\.md/, `blob ${blob}\tREADME.md`))
    .toString()
    .trim()
  const oid = run(['commit-tree', '-p', tip, '-m', text, tree], '').toString().trim()
  return { oid, pack: run(['pack-objects', '--stdout', '-q'], `${oid}\n${tree}\n${blob}\n`) }
}
