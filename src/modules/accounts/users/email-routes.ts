import { endpoint } from '../../../api/endpoint.ts'
import { fetchPage } from '../../../api/page.ts'
import { Flag, Id, Params, Text } from '../../../api/params/types.ts'
import { instance } from '../../instance/index.ts'
import { Email } from './email-entity.ts'
import { type EmailRow, emailRow, emailsOf, findEmailOf } from './email-queries.ts'
import { addEmail, getEmail, removeEmail } from './emails.ts'
import { refuseGhost, user } from './subject.ts'

const email_id = Id({ description: 'ID of the email address' })
const email = Text({ description: 'Email address, unique among users' })

/** Secondary email addresses of users. */
export const emailRoutes = [
  endpoint({
    method: 'GET',
    path: '/user/emails',
    summary: 'List secondary emails of the caller',
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    paged: true,
    returns: Email,
    handle: ({ page, ctx }) => fetchPage(ctx.db, emailRow, emailsOf(ctx.actor!.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/user/emails/:email_id',
    summary: "Get the caller's secondary email",
    scopes: ['read_user'],
    subject: instance,
    allow: 'use',
    params: Params({ email_id }),
    returns: Email,
    handle: ({ params, ctx }) => getEmail(ctx, ctx.actor!.id, params.email_id),
  }),

  endpoint({
    method: 'POST',
    path: '/user/emails',
    summary: "Add the caller's secondary email",
    description: 'The address must be confirmed before it can be used.',
    subject: instance,
    allow: 'use',
    params: Params({ email }),
    returns: Email,
    handle: ({ params, ctx }) => addEmail(ctx, ctx.actor!, params.email, false),
  }),

  endpoint({
    method: 'DELETE',
    path: '/user/emails/:email_id',
    summary: "Delete the caller's secondary email",
    subject: instance,
    allow: 'use',
    params: Params({ email_id }),
    changedAt: async (_subject, params, ctx) => changedAt(await findEmailOf(ctx.db, ctx.actor!.id, params.email_id)),
    returns: null,
    handle: ({ params, ctx }) => removeEmail(ctx, ctx.actor!.id, params.email_id),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:id/emails',
    summary: 'List secondary emails of a user',
    scopes: ['read_user'],
    subject: user,
    allow: 'admin_user',
    paged: true,
    returns: Email,
    handle: ({ subject, page, ctx }) => fetchPage(ctx.db, emailRow, emailsOf(subject.id), page),
  }),

  endpoint({
    method: 'GET',
    path: '/users/:id/emails/:email_id',
    summary: "Get a user's secondary email",
    scopes: ['read_user'],
    subject: user,
    allow: 'admin_user',
    params: Params({ email_id }),
    returns: Email,
    handle: ({ subject, params, ctx }) => getEmail(ctx, subject.id, params.email_id),
  }),

  endpoint({
    method: 'POST',
    path: '/users/:id/emails',
    summary: "Add a user's secondary email",
    subject: user,
    allow: 'admin_user',
    params: Params({
      email,
      skip_confirmation: Flag({ default: false, description: 'Skip the confirmation of the email address' }),
    }),
    returns: Email,
    handle({ subject, params, ctx }) {
      refuseGhost(subject)
      return addEmail(ctx, subject, params.email, params.skip_confirmation)
    },
  }),

  endpoint({
    method: 'DELETE',
    path: '/users/:id/emails/:email_id',
    summary: "Delete a user's secondary email",
    subject: user,
    allow: 'admin_user',
    params: Params({ email_id }),
    changedAt: async (subject, params, ctx) => changedAt(await findEmailOf(ctx.db, subject.id, params.email_id)),
    returns: null,
    handle: ({ subject, params, ctx }) => removeEmail(ctx, subject.id, params.email_id),
  }),
]

const changedAt = (row: EmailRow | undefined) => row && (row.confirmed_at ?? row.created_at)
