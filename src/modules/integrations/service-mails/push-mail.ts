import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid, nullOid, type Oid, parseOid } from '../../../git/format/oid.ts'
import { shownPath } from '../../../git/format/text.ts'
import { patchesBetweenTrees } from '../../../git/history/patches.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { signature } from '../../instance/index.ts'
import { PayloadProject } from '../payloads/blocks.ts'
import { findUserBlocks } from '../payloads/queries.ts'

/** Differences that a mail contains at most. Every recipient gets a mail of its own, which is stored until it is sent. */
const limits = { files: 100, lines: 3000, bytes: 64 * 1024, fileBytes: 32 * 1024 } as const
/** Maximum characters of a message of a commit or tag. */
const maxMessage = 2000

type Fields = Readonly<Record<string, any>>

const short = (oid: string): string => oid.slice(0, 8)

/** Subject and paragraphs of the mail about a push of a branch or a tag. */
export async function pushMail(
  ctx: Ctx,
  payload: Fields,
  { withDiff }: { readonly withDiff: boolean },
): Promise<{ subject: string; paragraphs: readonly string[] }> {
  const { ref, before, after, project, commits, total_commits_count: total } = payload
  const isTag = payload['object_kind'] === 'tag_push'
  const name = String(ref).replace(/^refs\/(heads|tags)\//, '')
  const noun = isTag ? 'tag' : 'branch'
  const place = `[Git][${project.path_with_namespace}][${name}]`
  const who = signature({ name: payload['user_name'] ?? '', username: payload['user_username'] ?? '' })
  if (after === nullOid)
    return {
      subject: `${place} Deleted ${noun}`,
      paragraphs: [`${who} deleted the ${noun} ${name} of ${project.web_url}`],
    }
  if (isTag)
    return {
      subject: `${place} Pushed tag`,
      paragraphs: [
        `${who} pushed the tag ${name} to ${project.web_url}`,
        ...(payload['message'] ? [String(payload['message']).slice(0, maxMessage)] : []),
      ],
    }
  const count = total === 1 ? '1 commit' : `${total} commits`
  const first = commits.at(0)?.title
  const repository = (await PayloadProject.load(ctx, payload['project_id']))?.repository
  const diff = withDiff && repository ? await diffOf(repository, before, after, commits) : []
  return {
    subject: `${place} ${count}${first ? `: ${first}` : ''}`,
    paragraphs: [
      `${who} pushed to the ${before === nullOid ? 'new ' : ''}branch ${name} of ${project.web_url}`,
      `${count}:`,
      ...commits.map(commitText),
      ...(total > commits.length ? [`… and ${total - commits.length} earlier ones`] : []),
      ...(before === nullOid ? [] : [`${project.web_url}/-/compare/${before}...${after}`]),
      ...diff,
    ],
  }
}

const commitText = ({ id, url, author, message }: Fields): string =>
  `${short(id)} by ${author.name}\n${url}\n${String(message).trim().slice(0, maxMessage)}`

/** The differences of all commits together, as far as they fit. Nothing if what was there before is unknown. */
async function diffOf(
  repo: Repository,
  before: string,
  after: string,
  commits: readonly Fields[],
): Promise<readonly string[]> {
  const from = before === nullOid ? await treeBefore(repo, commits) : await treeOf(repo, before)
  const to = await treeOf(repo, after)
  if (!from || !to) return []
  const { files, overflow } = await patchesBetweenTrees(repo, from, to, limits)
  return [
    ...files.map(({ change, text, tooLarge }) => {
      const [old, now] = [shownPath(change.oldPath), shownPath(change.newPath)]
      const path = old === now ? now : `${old} → ${now}`
      return `=== ${path}\n${tooLarge ? '(too large)' : text}`.trimEnd()
    }),
    ...(overflow ? ['Further changes are not shown.'] : []),
  ]
}

const treeOf = async (repo: Repository, oid: string): Promise<Oid | undefined> => {
  const parsed = parseOid(oid)
  return parsed && (await readCommit(repo, parsed))?.tree
}

/** The tree before the first of the new commits of a new branch. */
async function treeBefore(repo: Repository, [first]: readonly Fields[]): Promise<Oid | undefined> {
  const oid = first && parseOid(first['id'])
  const commit = oid && (await readCommit(repo, oid))
  if (!commit) return undefined
  return commit.parents[0] === undefined ? (emptyTreeOid as Oid) : treeOf(repo, commit.parents[0])
}

/** The pusher as the sender, if the domain of their address is that of the installation or above it. */
export async function pusherAsSender(ctx: Ctx, { user_id: id }: Fields): Promise<Mail['from']> {
  const [user] = typeof id === 'number' ? await findUserBlocks(ctx.db, [id]) : []
  if (!user) return undefined
  const { hostname } = new URL(ctx.site.url)
  const domain = user.email.slice(user.email.lastIndexOf('@') + 1).toLowerCase()
  return hostname === domain || (domain.includes('.') && hostname.endsWith(`.${domain}`))
    ? { name: user.name, address: user.email }
    : undefined
}
