import { createHash } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import { branchRef, tagRef } from '../../../git/format/ref-name.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { plainName } from '../../discussion/index.ts'
import type { RecordSource } from '../imports/own-records.ts'
import type { People, Person } from '../records/people.ts'
import type { Resource } from './adapter.ts'
import type {
  CommentItem,
  DiffCommentItem,
  ForgeItem,
  IssueItem,
  LabelItem,
  MilestoneItem,
  PullItem,
  ReleaseItem,
  ReviewItem,
} from './items.ts'
import type { ForgeKind } from './kinds.ts'
import type { PageFiles } from './pages.ts'
import { RecordFiles } from './record-files.ts'
import type { Report } from './report.ts'
import { Places, versionOf } from './versions.ts'

/** What the records of an import are written of. */
export type Source = {
  readonly projectId: number
  readonly forge: ForgeKind
  readonly files: PageFiles
  readonly resources: readonly Resource[]
  readonly people: People
  /** The draft, with all commits and the heads of pull requests. */
  readonly repo: Repository
  /** Names of refs that were fetched. */
  readonly refs: ReadonlySet<string>
  /** Time of what has no time at its forge. */
  readonly now: string
}

/** Relations whose rows reports count, by the kinds of reports. */
export const countedRelations: Readonly<Record<string, string>> = {
  labels: 'label',
  milestones: 'milestone',
  issues: 'issue',
  merge_requests: 'pull_request',
  releases: 'release',
}

/** Writes the pages of a forge as the records that an archive would have. Each object is written once, however often pages have it. */
export async function writeForgeRecords(
  ctx: Ctx,
  source: Source,
  folder: string,
  report: Report,
): Promise<RecordSource> {
  const { files, resources } = source
  const writer = new RecordWriter(ctx, source, new RecordFiles(folder), report)
  for (const { name, kind } of resources) {
    if (kind === 'person') continue
    for await (const { items, leftOut, reasons } of files.heads(name)) {
      if (items + leftOut > 0) report.fetched(kind, items + leftOut)
      for (const [index, reason] of reasons.entries())
        report.leftOut(kind, `${name}: ${reason}`, index === 0 ? leftOut - reasons.length + 1 : 1)
    }
  }
  // Notes follow what they belong to.
  for (const wanted of [isNoteable, isNote])
    for (const { name } of resources)
      for await (const item of files.items(name)) if (wanted(item)) await writer.add(item)
  return writer.source()
}

/** People of the pages, with what is known of them. */
export async function peopleIn(files: PageFiles, resources: readonly Resource[]): Promise<Person[]> {
  const people = new Map<string, Person>()
  const see = (person: Person | null): void => {
    if (person && !people.has(person.username)) people.set(person.username, person)
  }
  for (const { name } of resources)
    for await (const item of files.items(name)) {
      if (item.is === 'person') people.set(item.username, item)
      if ('author' in item) see(item.author)
      if ('assignees' in item) for (const each of [...item.assignees, item.closedBy]) see(each)
      if (item.is === 'pull') for (const each of [...item.reviewers, item.mergedBy]) see(each)
      if (item.is === 'diff_comment') see(item.resolved)
    }
  return [...people.values()]
}

const noteKinds: readonly ForgeItem['is'][] = ['comment', 'diff_comment', 'review']
const isNote = ({ is }: ForgeItem): boolean => noteKinds.includes(is)
const isNoteable = (item: ForgeItem): boolean => !isNote(item) && item.is !== 'person'

type Noteable = { readonly one: 'issue' | 'merge_request'; readonly line: number }

const reviewTitles: Readonly<Record<ReviewItem['state'], string>> = {
  approved: 'Approved',
  changes_requested: 'Changes requested',
  commented: 'Commented',
  dismissed: 'Dismissed',
}

class RecordWriter {
  readonly #ctx: Ctx
  readonly #source: Source
  readonly #records: RecordFiles
  readonly #report: Report
  readonly #places: Places
  readonly #labels = new Map<string, number>()
  readonly #milestones = new Map<string, number>()
  readonly #milestoneTitles = new Map<string, number>()
  readonly #milestoneNumbers = new Set<number>()
  /** Issues and pull requests have one sequence of numbers. */
  readonly #noteables = new Map<number, Noteable>()
  readonly #releases = new Set<string>()
  /** Ids of notes that were written. */
  readonly #seen = new Set<string>()
  readonly #approvals = new Set<string>()

  constructor(ctx: Ctx, source: Source, records: RecordFiles, report: Report) {
    this.#ctx = ctx
    this.#source = source
    this.#records = records
    this.#report = report
    this.#places = new Places(ctx, source.repo)
  }

  source(): RecordSource {
    return this.#records.source()
  }

  async add(item: ForgeItem): Promise<void> {
    switch (item.is) {
      case 'label':
        return void (await this.#label(item))
      case 'milestone':
        return this.#milestone(item)
      case 'issue':
        return this.#issue(item)
      case 'pull':
        return this.#pull(item)
      case 'release':
        return this.#release(item)
      case 'comment':
        return this.#comment(item)
      case 'diff_comment':
        return this.#diffComment(item)
      case 'review':
        return this.#review(item)
    }
  }

  async #label({ title, color, description }: LabelItem): Promise<number> {
    const known = this.#labels.get(title)
    if (known !== undefined) return known
    const { now } = this.#source
    const line = await this.#records.add('labels', { title, color, description, created_at: now, updated_at: now })
    this.#labels.set(title, line)
    this.#report.imported('label')
    return line
  }

  async #milestone(item: MilestoneItem): Promise<void> {
    const same = this.#milestoneTitles.get(item.title)
    if (same !== undefined) {
      if (!this.#milestones.has(item.key)) this.#report.leftOut('milestone', `${item.title}: its title is there twice`)
      this.#milestones.set(item.key, this.#milestones.get(item.key) ?? same)
      return
    }
    let iid = item.number ?? this.#milestoneNumbers.size + 1
    while (this.#milestoneNumbers.has(iid)) iid++
    this.#milestoneNumbers.add(iid)
    const line = await this.#records.add('milestones', {
      iid,
      title: item.title,
      description: item.description,
      state: item.closed ? 'closed' : 'active',
      start_date: null,
      due_date: item.due,
      created_at: item.created,
      updated_at: item.updated,
    })
    this.#milestones.set(item.key, line)
    this.#milestoneTitles.set(item.title, line)
    this.#report.imported('milestone')
  }

  /** What records of issues and merge requests have in common. */
  #discussed(item: IssueItem | PullItem) {
    return {
      iid: item.number,
      title: item.title,
      description: this.#signed(item.author, item.body),
      author: nameOf(item.author),
      discussion_locked: item.locked ? true : null,
      milestone: item.milestone === null ? null : (this.#milestones.get(item.milestone) ?? null),
      created_at: item.created,
      updated_at: item.updated,
    }
  }

  /** The description of an author whom the importer replaces says who wrote it. */
  #signed(author: Person | null, body: string | null): string | null {
    const name = this.#source.people.lostName(nameOf(author))
    return name === undefined
      ? body
      : `*Created by: ${plainName(name).trim()}*\n\n${body ?? ''}`.slice(0, 1_000_000).toWellFormed()
  }

  /** Whether the number is free. */
  #isNew(kind: string, number: number): boolean {
    const known = this.#noteables.get(number)
    if (known && known.one !== (kind === 'issue' ? 'issue' : 'merge_request'))
      this.#report.leftOut(kind, `${number}: an issue and a pull request have the same number`)
    return !known
  }

  async #issue(item: IssueItem): Promise<void> {
    if (!this.#isNew('issue', item.number)) return
    const line = await this.#records.add('issues', {
      ...this.#discussed(item),
      state: item.state,
      due_date: item.due,
      closed_at: item.state === 'closed' ? (item.closed ?? item.updated) : null,
      closed_by: item.state === 'closed' && item.closedBy ? item.closedBy.username : null,
    })
    this.#noteables.set(item.number, { one: 'issue', line })
    await this.#related({ one: 'issue', line }, item)
    this.#report.imported('issue')
  }

  async #related({ one, line }: Noteable, { labels, assignees }: IssueItem | PullItem): Promise<void> {
    for (const label of labels)
      await this.#records.add(`${one}_labels`, { [one]: line, label: await this.#label(label) })
    for (const user of this.#known(assignees)) await this.#records.add(`${one}_assignees`, { [one]: line, user })
  }

  /** The user names of those who are users here. */
  #known(people: readonly Person[]): string[] {
    const names = people.map(({ username }) => username)
    return [...new Set(names)].filter((username) => this.#source.people.idOf(username) !== undefined)
  }

  async #pull(item: PullItem): Promise<void> {
    if (!this.#isNew('pull_request', item.number)) return
    const { repo } = this.#source
    const { number, state } = item
    const version = await versionOf(this.#ctx, repo, item)
    const line = await this.#records.add('merge_requests', {
      ...this.#discussed(item),
      state,
      target_branch: item.targetBranch,
      source_branch: sourceBranchOf(this.#source.forge, item),
      own_source: item.fork === null,
      merge_commit_oid: item.mergeCommit,
      merged_at: state === 'merged' ? (item.merged ?? item.closed ?? item.updated) : null,
      merged_by: state === 'merged' && item.mergedBy ? item.mergedBy.username : null,
      closed_at: state === 'closed' ? (item.closed ?? item.updated) : null,
      closed_by: state === 'closed' && item.closedBy ? item.closedBy.username : null,
    })
    const noteable = { one: 'merge_request', line } as const
    this.#noteables.set(number, noteable)
    const diff = await this.#records.add('merge_request_diffs', {
      merge_request: line,
      state: version.state,
      head_oid: version.head,
      start_oid: version.start,
      base_oid: version.base,
      files: version.files,
      overflow: version.overflow,
      commits: version.commits.length,
      created_at: item.created,
    })
    for (const [index, oid] of version.commits.entries())
      await this.#records.add('merge_request_commits', { diff, position: index + 1, oid })
    this.#places.add(number, version)
    await this.#related(noteable, item)
    for (const user of this.#known(item.reviewers))
      await this.#records.add('merge_request_reviewers', { merge_request: line, user })
    this.#report.imported('pull_request')
  }

  async #release(item: ReleaseItem): Promise<void> {
    const { tag, draft } = item
    if (this.#releases.has(tag)) return
    this.#releases.add(tag)
    const ref = tagRef(tag)
    if (draft || !ref || !this.#source.refs.has(ref))
      return this.#report.leftOut('release', `${tag}: ${draft ? 'it is a draft' : 'its tag does not exist'}`)
    const times = { created_at: item.created, updated_at: item.released }
    const release = await this.#records.add('releases', {
      tag,
      name: item.name,
      description: item.body,
      author: item.author?.username ?? null,
      released_at: item.released,
      ...times,
    })
    const [names, urls] = [new Set<string>(), new Set<string>()]
    for (const { name, url } of item.assets) {
      if (names.has(name) || urls.has(url)) continue
      names.add(name)
      urls.add(url)
      await this.#records.add('release_links', { release, name, url, link_type: 'other', ...times })
    }
    this.#report.imported('release')
  }

  /** What a note belongs to. Undefined if it was left out, or if the note was written. */
  #noteableOf(kind: string, { id, number }: { readonly id: number; readonly number: number }): Noteable | undefined {
    const key = `${kind}:${id}`
    if (this.#seen.has(key)) return undefined
    this.#seen.add(key)
    const noteable = this.#noteables.get(number)
    if (!noteable) this.#report.leftOut(kind, `${id}: number ${number}, to which it belongs, was not imported`)
    return noteable
  }

  #note(
    { one, line }: Noteable,
    { author, created, updated }: Pick<CommentItem, 'author' | 'created' | 'updated'>,
    more: { readonly thread: string; readonly note: string } & Readonly<Record<string, unknown>>,
  ): Promise<number> {
    const { thread, ...rest } = more
    const { projectId, forge } = this.#source
    return this.#records.add(`${one}_notes`, {
      [one]: line,
      author: nameOf(author),
      discussion_id: createHash('sha1').update(`${forge} ${projectId} ${thread}`).digest('hex'),
      ...rest,
      created_at: created,
      updated_at: updated,
    })
  }

  async #comment(item: CommentItem): Promise<void> {
    const noteable = this.#noteableOf('note', item)
    if (!noteable) return
    await this.#note(noteable, item, { thread: `comment ${item.id}`, note: item.body })
    this.#report.imported('note')
  }

  async #diffComment(item: DiffCommentItem): Promise<void> {
    const noteable = this.#noteableOf('diff_note', item)
    if (!noteable) return
    const position = noteable.one === 'merge_request' ? await this.#places.find(item) : undefined
    const line = item.newLine ?? item.oldLine
    const where = `\`${item.path.replaceAll('`', "'")}\`${line === null ? '' : `, line ${line}`}`
    await this.#note(noteable, item, {
      // A discussion is about one line: what lost its line is a discussion of its own.
      thread: `line ${item.number} ${item.thread} ${position === undefined ? '' : JSON.stringify(position)}`,
      threaded: noteable.one === 'merge_request',
      note: position ? item.body : `*Comment on ${where}*\n\n${item.body}`,
      position: position ?? null,
      ...(item.resolved && { resolved_at: item.updated, resolved_by: item.resolved.username }),
    })
    this.#report.imported('diff_note')
  }

  async #review(item: ReviewItem): Promise<void> {
    const noteable = this.#noteableOf('pull_request_review', item)
    if (noteable?.one !== 'merge_request') return
    const { author, body, created, state, number } = item
    this.#report.imported('pull_request_review')
    if (state === 'approved' && author && !this.#approvals.has(`${number} ${author.username}`)) {
      this.#approvals.add(`${number} ${author.username}`)
      if (this.#source.people.idOf(author.username) !== undefined)
        await this.#records.add('merge_request_approvals', {
          merge_request: noteable.line,
          user: author.username,
          created_at: created,
        })
    }
    // A review without words holds comments on lines.
    if (state === 'commented' && body.trim() === '') return
    const note = `**Review:** ${reviewTitles[state]}${body.trim() === '' ? '' : `\n\n${body}`}`
    await this.#note(noteable, { author, created, updated: created }, { thread: `review ${item.id}`, note })
  }
}

/** Accounts that were deleted have no name at their forge. */
const nameOf = (person: Person | null): string => person?.username ?? 'ghost'

/** The branch of a pull request: one from another repository gets a branch of its own. */
const sourceBranchOf = (forge: ForgeKind, { fork, sourceBranch }: PullItem): string => {
  const name = fork === null ? sourceBranch : `${forge}/fork/${fork}/${sourceBranch}`
  return branchRef(name) ? name : `${forge}/fork/unnamed`
}
