"""Prints the folder below LIB where this interpreter looks for packages; Debian's for its own packages if there is none.

usage: installed_folder.py LIB
"""

import os
import site
import sys

library = os.path.join(os.path.realpath(sys.argv[1]), "")
searched = [*site.getsitepackages(), site.getusersitepackages()]
print(next((folder.removeprefix(library) for folder in searched if folder.startswith(library)), "python3/dist-packages"))
