"""`python -m studio` is `reprise`."""

from studio.cli.main import main

if __name__ == "__main__":
    main()
