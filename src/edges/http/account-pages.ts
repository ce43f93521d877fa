import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Ctx } from '../../api/ctx.ts'
import { Failure } from '../../kernel/failure.ts'
import { escaped } from '../../kernel/html.ts'
import { askForPassword, choosePassword, confirmByLink, isLink } from '../../modules/accounts/index.ts'
import { type Exchange, sendText } from './answer.ts'
import { atPace, usualPace } from './body/pace.ts'
import { readBytes } from './body/read-bytes.ts'
import type { HttpContext } from './context.ts'
import { endFailed } from './end-failed.ts'
import { beginExchange } from './exchange.ts'
import { html, type Page, pageHeaders } from './html-page.ts'
import { refusedByLimits } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'
import type { Routes } from './server.ts'
import { splitTarget } from './target.ts'

/** The URL of a page contains a secret: it must not leak as a referrer, be cached or be framed. */
const headers = { ...pageHeaders, 'cache-control': 'no-store' }

const text = (status: number, title: string, sentence: string): Page => ({
  status,
  title,
  body: `<p>${escaped(sentence)}</p>`,
})

const form = (fields: string, button: string): string =>
  `<form method="post">\n${fields}\n<p><button type="submit">${button}</button></p>\n</form>`

const hidden = (token: string): string => `<input type="hidden" name="token" value="${escaped(token)}">`

const badLink = (again: string): Page =>
  text(422, 'This link is no longer valid', `It may have been used, expired or replaced. ${again}`)

/** A form: `show` renders it, `take` handles its submission. Opening the link changes nothing, because mail programs open links. */
type Form = {
  show(token: string, ctx: Ctx): Promise<Page>
  take(input: URLSearchParams, ctx: Ctx): Promise<Page>
}

const confirmation: Form = {
  async show(token, ctx) {
    if (!(await isLink(ctx, token, 'confirmation'))) return badLink('Ask an administrator for a new one.')
    return { status: 200, title: 'Confirm your email address', body: form(hidden(token), 'Confirm') }
  },
  async take(input, ctx) {
    return (await confirmByLink(ctx, input.get('token') ?? ''))
      ? text(200, 'Thank you', 'Your email address is confirmed.')
      : badLink('Ask an administrator for a new one.')
  },
}

const askAgain = 'Request a new one at /-/users/password/new.'

const passwordForm = (token: string, violation = ''): string =>
  `${violation === '' ? '' : `<p role="alert">${escaped(violation)}</p>\n`}${form(
    `${hidden(token)}\n<p><label>New password <input type="password" name="password" autocomplete="new-password" required></label></p>`,
    'Save',
  )}`

const newPassword: Form = {
  async show(token, ctx) {
    if (!(await isLink(ctx, token, 'password'))) return badLink(askAgain)
    return { status: 200, title: 'Choose a new password', body: passwordForm(token) }
  },
  async take(input, ctx) {
    const token = input.get('token') ?? ''
    try {
      return (await choosePassword(ctx, token, input.get('password') ?? ''))
        ? text(200, 'Thank you', 'Your new password is set.')
        : badLink(askAgain)
    } catch (error) {
      if (!(error instanceof Failure && error.fields)) throw error
      return { status: 422, title: 'Choose a new password', body: passwordForm(token, `The ${error.message}.`) }
    }
  },
}

const forgottenPassword: Form = {
  async show() {
    const field = '<p><label>Email address <input type="email" name="email" autocomplete="email" required></label></p>'
    return { status: 200, title: 'Forgot your password?', body: form(field, 'Send me a link') }
  },
  async take(input, ctx) {
    await askForPassword(ctx, input.get('email') ?? '')
    // The response must not reveal whether the account exists.
    return text(200, 'Check your mail', 'If an account with this address exists, a link was sent to it.')
  },
}

const forms: Readonly<Record<string, Form>> = {
  '/-/users/confirmation': confirmation,
  '/-/users/password/edit': newPassword,
  '/-/users/password/new': forgottenPassword,
}

const maxBodyBytes = 16 * 1024

/** The pages that links in mails open. */
export const accountPages =
  (context: HttpContext): Routes =>
  (app) => {
    const serve = async (request: FastifyRequest, reply: FastifyReply, answer: (ctx: Ctx) => Promise<Page>) => {
      reply.hijack()
      const exchange = beginExchange(request, reply, context.siteUrl)
      try {
        const ctx = await context.open(null, request.ip)
        if (await refusedByLimits(exchange, ctx, null, request.ip, 'web')) return
        const page = await answer(ctx)
        sendText(exchange, page.status, html(page), headers)
      } catch (error) {
        failed(exchange, error, context)
      } finally {
        logAnswer(context.log, exchange, null)
      }
    }
    for (const [url, { show, take }] of Object.entries(forms)) {
      app.route({
        method: ['GET', 'HEAD'],
        url,
        handler: (request, reply) =>
          serve(request, reply, (ctx) =>
            show(new URLSearchParams(splitTarget(request.raw.url!).query).get('token') ?? '', ctx),
          ),
      })
      app.route({
        method: 'POST',
        url,
        handler: (request, reply) =>
          serve(request, reply, async (ctx) => {
            const bytes = await atPace(request.raw, usualPace, () => readBytes(request.raw, maxBodyBytes))
            return take(new URLSearchParams(bytes.toString('utf8')), ctx)
          }),
      })
    }
  }

const failed = (exchange: Exchange, error: unknown, { log }: HttpContext): void =>
  endFailed(exchange, error, {
    log,
    what: 'an account page failed',
    send: ({ status }) =>
      sendText(exchange, status, html(text(status, 'Something went wrong', 'Try again later.')), headers),
  })
