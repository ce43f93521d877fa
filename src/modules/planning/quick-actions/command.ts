import { alsoAsking } from '../../../api/also-asking.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { Failure, type FailureKind, forbidden } from '../../../kernel/failure.ts'
import type {
  ActionsInTransaction,
  Applied,
  PlannedNoteable,
  QuickAction,
  QuickActions,
  TextPlace,
  Tracked,
} from '../../discussion/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'

/** Attributes that quick actions of all kinds change. Absent fields stay unchanged. */
export type SharedEdit = {
  title?: string
  state_event?: 'close' | 'reopen'
  assignee_ids?: readonly number[]
  add_assignee_ids?: readonly number[]
  remove_assignee_ids?: readonly number[]
  labels?: readonly string[]
  add_labels?: readonly string[]
  remove_labels?: readonly string[]
  milestone_id?: number | null
  discussion_locked?: boolean
}

/** Rights that quick actions of all kinds need; each kind says which of its abilities they are. */
export type Right = 'read' | 'update' | 'admin' | 'reopen' | 'award'

/** What quick actions change. */
export type Commanded<E extends SharedEdit> = {
  readonly noteable: PlannedNoteable & { readonly iid: number }
  /** `merge request` */
  readonly noun: string
  /** Where references of its texts are read. */
  readonly place: TextPlace
  readonly state: string
  readonly may: (ctx: Ctx, right: Right) => boolean
  /** The same, read again. */
  readonly mayNow: (ctx: Ctx, right: Right) => Promise<boolean>
  /** Updates it, with the consequences of an update through the API. */
  readonly update: (ctx: Ctx, edit: E) => Promise<unknown>
}

/** The same with milestones, assignees and time tracking. */
export type ScheduledCommanded<E extends SharedEdit> = Commanded<E> & {
  readonly tracked: Tracked
  readonly project: ProjectSubject
}

/** The effect of one action: a change of the common update, or something done after it. */
type Effect = {
  readonly says: string
  readonly run?: (ctx: Ctx) => Promise<unknown>
  /** Whether it runs only if the common update succeeds, of which it is a consequence. */
  readonly follows?: boolean
}

/** A quick action. */
export type Command<E extends SharedEdit, T extends Commanded<E> = Commanded<E>> = {
  readonly names: readonly string[]
  readonly needs: Right
  /**
   * Adds what the action asks to the common update `edit`, or returns what to run after it. Undefined if the argument means nothing,
   * or if the caller may not do that.
   */
  plan(input: {
    readonly ctx: Ctx
    readonly subject: T
    readonly argument: string
    readonly edit: E
  }): Promise<Effect | undefined> | Effect | undefined
}

/** Failures of the service. All others concern only the action: it is reported, and the others are applied. */
const ofService: ReadonlySet<FailureKind> = new Set<FailureKind>(['unavailable', 'storage_full', 'timed_out'])

/** Runs it; false if it fails for a reason that concerns only this action. */
async function succeeds(run: () => Promise<unknown>): Promise<boolean> {
  try {
    await run()
    return true
  } catch (error) {
    if (error instanceof Failure && !ofService.has(error.kind)) return false
    throw error
  }
}

const couldNot = (name: string): string => `Could not apply ${name} command.`

/** The quick actions of one kind of noteable. */
export type CommandSet<T> = {
  /** All names, in lower case. */
  readonly names: ReadonlySet<string>
  of(subject: T, transaction: ActionsInTransaction): QuickActions
}

export function commandSet<E extends SharedEdit, T extends Commanded<E>>(
  commands: readonly Command<E, T>[],
): CommandSet<T> {
  const byName = new Map(commands.flatMap((command) => command.names.map((name) => [name, command] as const)))
  const names = new Set(byName.keys())
  return {
    names,
    of: (subject, transaction) => ({
      ...transaction,
      known: names,
      apply: (within, actions) => apply(within, byName, subject, transaction.outside, actions),
    }),
  }
}

/** The context in which an action runs: its request has asked for the right to comment only. */
const asking = (ctx: Ctx, subject: Pick<Commanded<SharedEdit>, 'mayNow'>, right: Right): Ctx =>
  alsoAsking(ctx, async (now) => {
    if (!(await subject.mayNow(now, right))) throw forbidden()
  })

/** A quick action of a text, with what it asks. */
type Planned<E> = {
  readonly name: string
  readonly needs: Right
  /** The update to which it adds. */
  readonly edit: E
  /** Undefined if it cannot be applied. */
  readonly effect: Effect | undefined
}

/**
 * Applies actions: all attributes first, in one update, then the rest in their order. Those that change something outside the database
 * follow after the commit, and so does the rest from the first of them on. All are planned before the first takes effect. An action that
 * fails changes nothing.
 */
async function apply<E extends SharedEdit, T extends Commanded<E>>(
  within: Ctx,
  commands: ReadonlyMap<string, Command<E, T>>,
  subject: T,
  outside: ReadonlySet<string>,
  actions: readonly QuickAction[],
): Promise<(after: Ctx) => Promise<Applied>> {
  const [edit, laterEdit] = [{} as E, {} as E]
  const planned: Planned<E>[] = []
  for (const { name, argument } of actions) {
    const { needs, plan } = commands.get(name)!
    const to = outside.has(name) ? laterEdit : edit
    const effect = subject.may(within, needs) ? await plan({ ctx: within, subject, argument, edit: to }) : undefined
    planned.push({ name, needs, edit: to, effect })
  }
  const firstLater = isEmpty(laterEdit)
    ? planned.findIndex(({ name, effect }) => effect?.run && outside.has(name))
    : planned.findIndex(({ effect }) => effect?.run)
  const isLater = ({ name, effect }: Planned<E>, at: number): boolean =>
    effect?.run ? firstLater !== -1 && at >= firstLater : outside.has(name)

  const done = new Set<Planned<E>>()
  const changes: E[] = []
  const take = async (ctx: Ctx, update: E, some: readonly Planned<E>[]): Promise<void> => {
    if (isEmpty(update) || (await succeeds(() => subject.update(ctx, update)))) changes.push(update)
    for (const action of some) {
      const { run, follows = run === undefined } = action.effect ?? {}
      const isDone =
        action.effect !== undefined &&
        (changes.includes(action.edit) || !follows) &&
        (!run || (await succeeds(() => run(asking(ctx, subject, action.needs)))))
      if (isDone) done.add(action)
    }
  }
  await take(
    within,
    edit,
    planned.filter((action, at) => !isLater(action, at)),
  )
  return async (after) => {
    await take(after, laterEdit, planned.filter(isLater))
    const summary = planned.map((action) => (done.has(action) ? action.effect!.says : couldNot(action.name)))
    return { changes: Object.assign({}, ...changes), summary }
  }
}

const isEmpty = (edit: object): boolean => Object.keys(edit).length === 0
