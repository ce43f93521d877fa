import type { Person } from '../records/people.ts'

/** A label as an issue names it. */
export type LabelItem = {
  readonly is: 'label'
  readonly title: string
  readonly color: string
  readonly description: string | null
}

export type MilestoneItem = {
  readonly is: 'milestone'
  /** By which issues and pull requests name it. */
  readonly key: string
  /** Null for forges without numbers of milestones. */
  readonly number: number | null
  readonly title: string
  readonly description: string | null
  readonly closed: boolean
  readonly due: string | null
  readonly created: string
  readonly updated: string
}

type Discussed = {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly author: Person | null
  readonly locked: boolean
  readonly labels: readonly LabelItem[]
  readonly milestone: string | null
  readonly assignees: readonly Person[]
  readonly created: string
  readonly updated: string
  readonly closed: string | null
  readonly closedBy: Person | null
}

export type IssueItem = Discussed & {
  readonly is: 'issue'
  readonly state: 'opened' | 'closed'
  readonly due: string | null
}

export type PullItem = Discussed & {
  readonly is: 'pull'
  readonly state: 'opened' | 'closed' | 'merged'
  readonly sourceBranch: string
  readonly targetBranch: string
  /** The account with the source branch, if it is in another repository. */
  readonly fork: string | null
  readonly head: string | null
  /** The commit of the target branch with which the forge compares. */
  readonly base: string | null
  readonly merged: string | null
  readonly mergedBy: Person | null
  readonly mergeCommit: string | null
  readonly reviewers: readonly Person[]
}

/** A comment on an issue or pull request. */
export type CommentItem = {
  readonly is: 'comment'
  readonly id: number
  readonly number: number
  readonly author: Person | null
  readonly body: string
  readonly created: string
  readonly updated: string
}

/** A comment on a line of a pull request. */
export type DiffCommentItem = Omit<CommentItem, 'is'> & {
  readonly is: 'diff_comment'
  /** Comments of one thread have the same. */
  readonly thread: string
  readonly path: string
  /** Null on the side that has no such line, and both if the comment is out of date. */
  readonly newLine: number | null
  readonly oldLine: number | null
  readonly resolved: Person | null
}

export type ReviewItem = {
  readonly is: 'review'
  readonly id: number
  readonly number: number
  readonly author: Person | null
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed'
  readonly body: string
  readonly created: string
  /** There are comments on lines that only the review lists. */
  readonly hasComments: boolean
}

export type ReleaseItem = {
  readonly is: 'release'
  readonly tag: string
  readonly name: string | null
  readonly body: string
  readonly author: Person | null
  readonly draft: boolean
  readonly created: string
  readonly released: string
  readonly assets: readonly { readonly name: string; readonly url: string }[]
}

/** What is known of a user beside the user name. */
export type PersonItem = { readonly is: 'person' } & Person

/** What an import reads of a forge, of whichever kind the forge is. All values fit the columns that they are for. */
export type ForgeItem =
  | LabelItem
  | MilestoneItem
  | IssueItem
  | PullItem
  | CommentItem
  | DiffCommentItem
  | ReviewItem
  | ReleaseItem
  | PersonItem

/** A repository as its forge describes it. */
export type ForgeRepository = {
  /** `owner/name` */
  readonly fullName: string
  readonly name: string
  readonly description: string | null
  readonly private: boolean
  readonly defaultBranch: string | null
  readonly hasWiki: boolean
  readonly topics: readonly string[]
}

/** Something that cannot be imported. */
export class LeftOut extends Error {
  override name = 'LeftOut'
}
