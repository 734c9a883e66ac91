"""`completion`: the script with which a shell completes `reprise`."""

import click
from click.shell_completion import get_completion_class

_VARIABLE = "_REPRISE_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Write the completion script of a shell.

    \b
    bash:  eval "$(reprise completion bash)"
    zsh:   eval "$(reprise completion zsh)"
    fish:  reprise completion fish | source
    """
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"click knows no completion for {shell}.")
    root = click.get_current_context().find_root().command
    click.echo(script(root, {}, "reprise", _VARIABLE).source())
