import type { ComponentChildren } from 'preact';

/** What stands where there is nothing yet, with the command that makes something. */
export function Empty({
  children,
  command,
}: {
  readonly children: ComponentChildren;
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command !== undefined && (
        <p>
          <code>{command}</code>
        </p>
      )}
    </div>
  );
}
