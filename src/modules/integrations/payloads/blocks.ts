import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import { changedFiles } from '../../../git/history/changes.ts'
import { type Commit, readCommit, titleOf, treeBefore } from '../../../git/objects/commits.ts'
import { formatSignatureTime } from '../../../git/objects/signature.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { avatarUrl, pictureUrl } from '../../namespaces/index.ts'
import { openRepository } from '../../projects/index.ts'
import {
  findLabelBlocks,
  findProjectBlock,
  findUserBlocks,
  type LabelBlockRow,
  type ProjectBlockRow,
  type UserBlockRow,
} from './queries.ts'
import { type PayloadCtx, withGone } from './shown.ts'

/* Parts that several payloads have. Source of their keys: supplement to the API documents, "Shared blocks". */

/** Maximum paths of a commit that a payload lists, of each kind, and their characters: a path may have thousands. */
const [maxPaths, maxPathCharacters] = [1000, 65_536]
/** Maximum characters of a message of a commit, and of the name and address of its author. Git accepts megabytes, and a payload has twenty commits. */
const [maxMessage, maxName] = [100_000, 1000]

const cut = (text: string, maximum: number): string => text.slice(0, maximum).toWellFormed()

/** A project with what payloads show of it. */
export class PayloadProject {
  readonly row: ProjectBlockRow
  readonly #ctx: PayloadCtx

  constructor(ctx: PayloadCtx, row: ProjectBlockRow) {
    this.row = row
    this.#ctx = ctx
  }

  static async load(ctx: PayloadCtx, id: number | null): Promise<PayloadProject | undefined> {
    if (id === null) return undefined
    const recorded = ctx.shown?.project
    const row = (await findProjectBlock(ctx.db, id)) ?? (recorded?.id === id ? recorded : undefined)
    return row && new PayloadProject(ctx, row)
  }

  get webUrl(): string {
    return `${this.#ctx.site.url}/${this.row.full_path}`
  }

  get #urls() {
    const { site } = this.#ctx
    return { ssh: sshUrlToRepo(site, this.row.full_path), http: httpUrlToRepo(site, this.row.full_path) }
  }

  get repository(): Repository {
    return openRepository(this.#ctx, this.row)
  }

  /** Block P without its deprecated keys. */
  get current() {
    const { id, name, description, avatar, full_path, namespace_name, visibility, default_branch, ci_config_path } =
      this.row
    const { ssh, http } = this.#urls
    return {
      id,
      name,
      description: description ?? '',
      web_url: this.webUrl,
      avatar_url: pictureUrl(this.#ctx.site, 'project', id, avatar),
      git_ssh_url: ssh,
      git_http_url: http,
      namespace: namespace_name,
      visibility_level: visibility,
      path_with_namespace: full_path,
      default_branch,
      ci_config_path,
    }
  }

  /** Block P. */
  get block() {
    const { ssh, http } = this.#urls
    return { ...this.current, homepage: this.webUrl, url: ssh, ssh_url: ssh, http_url: http }
  }

  /** Block R. */
  get repositoryBlock() {
    const { name, description } = this.row
    return { name, url: this.#urls.ssh, description: description ?? '', homepage: this.webUrl }
  }

  /** Block R of pushes and jobs. */
  get longRepositoryBlock() {
    const { ssh, http } = this.#urls
    return { ...this.repositoryBlock, git_http_url: http, git_ssh_url: ssh, visibility_level: this.row.visibility }
  }

  /** Block C, with the changed paths if `paths`. */
  async commit(commit: Commit, paths = false) {
    const author = { name: cut(commit.author.name, maxName), email: cut(commit.author.email, maxName) }
    const message = cut(commit.message, maxMessage)
    return {
      id: commit.oid,
      message,
      title: titleOf(message),
      timestamp: formatSignatureTime(commit.author),
      url: `${this.webUrl}/-/commit/${commit.oid}`,
      author,
      ...(paths && (await pathsOf(this.repository, commit))),
    }
  }

  /** The block of a commit by its id; null if the repository lacks it. */
  async commitBlock(oid: string | null) {
    const commit = oid === null ? undefined : await readCommit(this.repository, oid as Oid)
    return commit ? this.commit(commit) : null
  }

  /** Makes the paths of uploads in Markdown images absolute. */
  withAbsoluteImages(text: string | null): string | null {
    return (
      text?.replace(endOfUpload, (link, at: number) => (isImage(text, at) ? `${link}${this.webUrl}` : link)) ?? null
    )
  }
}

/** Between the text of a link and the path of an upload. */
const endOfUpload = /\]\((?=\/uploads\/[0-9a-f]{32}\/)/g
const [imageStart, maxImageText] = ['![', 500]

/** Whether the bracket ends the text of an image. It looks back, because a search for images would read what follows every `![`. */
function isImage(text: string, bracket: number): boolean {
  const before = text.slice(Math.max(bracket - maxImageText - imageStart.length, 0), bracket)
  const start = Math.max(before.lastIndexOf(']'), before.lastIndexOf('\n')) + 1
  return before.includes(imageStart, start)
}

/** A rename is an added and a removed path. */
async function pathsOf(repo: Repository, commit: Commit) {
  const { files } = await changedFiles(repo, await treeBefore(repo, commit), commit.tree)
  const of = (...statuses: readonly string[]) => files.filter(({ status }) => statuses.includes(status))
  return {
    added: listed(of('added', 'renamed').map(({ newPath }) => newPath)),
    modified: listed(of('modified', 'type_changed').map(({ newPath }) => newPath)),
    removed: listed(of('deleted', 'renamed').map(({ oldPath }) => oldPath)),
  }
}

/** The first of the paths, each as a whole. */
function listed(paths: readonly string[]): string[] {
  const shown: string[] = []
  let characters = 0
  for (const path of paths.slice(0, maxPaths)) {
    characters += path.length
    if (characters > maxPathCharacters) break
    shown.push(shownPath(path))
  }
  return shown
}

/** Block U, with the id and the public address that later releases add. */
export const userBlock = (ctx: PayloadCtx, user: UserBlockRow) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  avatar_url: avatarUrl(user, ctx),
  email: user.public_email,
})

export type UserBlock = ReturnType<typeof userBlock>

const goneUser = { id: null, name: null, username: null, avatar_url: null, email: '' }

/** Block U of an account; with nulls if it is gone. */
export const userOf = async (ctx: PayloadCtx, id: number | null) =>
  (await usersOf(ctx, id === null ? [] : [id]))[0] ?? goneUser

export async function usersOf(ctx: PayloadCtx, ids: readonly number[]): Promise<UserBlock[]> {
  if (ids.length === 0) return []
  const recorded = ctx.shown?.users?.map((user) => ({ ...user, email: '' }))
  return withGone(await findUserBlocks(ctx.db, ids), ids, recorded).map((user) => userBlock(ctx, user))
}

/** Block L. */
const labelBlock = ({ project_id, group_id, ...label }: LabelBlockRow) => ({
  ...label,
  project_id,
  group_id,
  template: false,
  type: project_id === null ? 'GroupLabel' : 'ProjectLabel',
})

export const labelsOf = async (ctx: PayloadCtx, ids: readonly number[]) =>
  ids.length === 0 ? [] : withGone(await findLabelBlocks(ctx.db, ids), ids, ctx.shown?.labels).map(labelBlock)
