import type { Ctx } from '../../../api/ctx.ts'
import { httpUrlToRepo, sshUrlToRepo } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { type Author, buildMail, quoted, sentBy, sentenceBy } from '../../instance/index.ts'
import type { MailedPipeline, MailedProject, MailedRelease, StoppedMirror } from './recipient-queries.ts'

type MailContext = Pick<Ctx, 'site' | 'settings'>

const by = (author: Author | undefined | null, mail: Mail): Mail => (author ? sentBy(author, mail) : mail)

export function releaseMail(ctx: MailContext, release: MailedRelease, to: MailedProject): Mail {
  const { tag, description, author } = release
  const name = oneLine(release.name ?? tag)
  return by(
    author,
    buildMail(
      ctx.site,
      to.address,
      to.name,
      `Release ${name}, ${to.full_path}`,
      sentenceBy(ctx, author ?? undefined, 'created a release', 'A release was created'),
      `${name}\n${ctx.site.url}/${to.full_path}/-/releases/${encodeURIComponent(tag)}`,
      ...(description.trim() === '' ? [] : [quoted(description)]),
    ),
  )
}

/** The mail about a project that has a new path. */
export function moveMail(
  ctx: MailContext,
  { oldPath, author }: { readonly oldPath: string; readonly author: Author | undefined },
  to: MailedProject,
): Mail {
  const remotes = [httpUrlToRepo, sshUrlToRepo].map((url) => `git remote set-url origin ${url(ctx.site, to.full_path)}`)
  return by(
    author,
    buildMail(
      ctx.site,
      to.address,
      to.name,
      `Project ${oldPath} moved to ${to.full_path}`,
      sentenceBy(ctx, author, 'moved a project', 'A project was moved'),
      `${oneLine(to.full_name)}\n${ctx.site.url}/${to.full_path}`,
      `It was ${oldPath}. To use the new URL in a clone, run one of:`,
      remotes.join('\n'),
    ),
  )
}

const outcomes = {
  failed_pipeline: ['failed', 'A pipeline failed'],
  fixed_pipeline: ['fixed', 'A pipeline succeeded, and the one before it had failed'],
  success_pipeline: ['succeeded', 'A pipeline succeeded'],
} as const

export type PipelineEvent = keyof typeof outcomes

export function pipelineMail(
  { site }: MailContext,
  { id, ref, sha }: MailedPipeline,
  event: PipelineEvent,
  to: MailedProject,
): Mail {
  const [word, sentence] = outcomes[event]
  return buildMail(
    site,
    to.address,
    to.name,
    `Pipeline #${id} ${word}, ${to.full_path}`,
    `${sentence}:`,
    `Pipeline #${id} of ${ref}, commit ${sha.slice(0, 8)}\n${site.url}/${to.full_path}/-/pipelines/${id}`,
  )
}

/** The mail about a mirror that is not updated any more. */
export function mirrorMail(
  { site }: MailContext,
  direction: 'pull' | 'push',
  { shown_url, last_error, failures }: StoppedMirror,
  to: MailedProject,
): Mail {
  const next = direction === 'pull' ? 'It is updated again when a maintainer starts it.' : 'The next push tries again.'
  return buildMail(
    site,
    to.address,
    to.name,
    `The ${direction} mirror of ${to.full_path} stopped`,
    `A ${direction} mirror stopped, because ${failures} updates in a row failed:`,
    `${oneLine(to.full_name)}\n${site.url}/${to.full_path}`,
    `${direction === 'pull' ? 'From' : 'To'} ${oneLine(shown_url)}: ${oneLine(last_error ?? '')}`,
    next,
  )
}
