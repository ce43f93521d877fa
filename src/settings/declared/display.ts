import { emailAddress, webAddress } from './rules.ts'
import { countOrNone, flag, text } from './schema.ts'

const pages = { without: 'pages' }
const long = { longest: 65_536 }

/** Texts of pages and mails. */
export const display = {
  home_page_url: text('URL to which visitors of `/` are redirected', { rules: [webAddress] }),
  after_sign_out_path: text('URL to which users are redirected after sign-out', { rules: [webAddress], ...pages }),
  after_sign_up_text: text('Message after sign-up (Markdown)', { ...long, ...pages }),
  sign_in_text: text('Text of the sign-in page (Markdown)', { ...long, ...pages }),
  help_page_text: text('Text of the help page (Markdown)', { ...long, ...pages }),
  help_page_support_url: text('URL of the support page', { rules: [webAddress], ...pages }),
  help_page_hide_commercial_content: flag(false, 'Hide commercial content on the help page', pages),
  help_text: text('Text of the sign-in page (Markdown)', { ...long, tier: 'premium', ...pages }),
  hide_third_party_offers: flag(false, 'Hide third-party offers', pages),
  performance_bar_allowed_group_id: countOrNone('Group whose members can see the performance bar', {
    ...pages,
    guards: 'missing',
  }),
  web_ide_clientside_preview_enabled: flag(false, 'Enable live preview in the web editor', pages),
  shared_runners_text: text('Information about shared runners (Markdown)', { ...long, ...pages }),
  instance_statistics_visibility_private: flag(false, 'Show instance statistics to administrators only', {
    without: 'statistics for other users; only administrators can read them',
    guards: 'missing',
  }),
  admin_notification_email: text('Email address for abuse reports', {
    rules: [emailAddress],
    without: 'abuse reports',
  }),
  html_emails_enabled: flag(true, 'Send mails as HTML in addition to plain text'),
  email_author_in_body: flag(
    false,
    'Name the author in the body of mails about comments, issues, merge requests and epics, not only as their sender',
  ),
  email_additional_text: text('Text at the end of every mail', { ...long, tier: 'premium' }),
}
