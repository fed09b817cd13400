"""`FILE[:NAME]`: which model of a file is taken, and what is said about a wrong file."""

import os

import pytest

from kinetograph.cli.errors import InputError
from kinetograph.cli.models import load_model

HEAD = "import kinetograph as kg\nmu = kg.normal(0, 1)\ny = kg.data([1.0, 2.0])\n"
OBSERVE = "kg.observe(y, kg.normal(mu, 1))\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def file(text, name="a.py"):
        (tmp_path / name).write_text(text)
        return name

    return file


def refused(source, **options):
    with pytest.raises(InputError) as caught:
        load_model(source, **options)
    return caught.value.format_message()


def test_the_variable_model_wins(write):
    file = write(HEAD + OBSERVE + "other = kg.model(twice=2 * mu)\nmodel = kg.model(mu)\n")
    assert load_model(file).target_names == ("mu",)
    assert load_model(file + ":other").target_names == ("twice",)


def test_the_only_model_is_taken_whatever_its_name(write):
    assert load_model(write(HEAD + OBSERVE + "schools = again = kg.model(mu)\n")).names == ("mu",)


def test_several_models_are_listed(write):
    file = write(HEAD + OBSERVE + "a, b = kg.model(mu), kg.model(mu)\n")
    assert refused(file) == "a.py creates several models: a, b; choose one, as in a.py:a"


def test_names_that_are_no_models(write):
    file = write(HEAD + OBSERVE + "model = kg.model(mu)\n")
    assert refused(file + ":x") == "a.py has no variable x; its models: model"
    assert refused(file + ":mu") == "mu in a.py is not a model but of type Array; its models: model"
    assert "the name of a variable after the colon, got '3x'" in refused(file + ":3x")


def test_a_file_without_a_model(write):
    assert refused(write(HEAD)) == "a.py creates no model: write model = kg.model(...) at top level"


def test_a_file_that_would_make_a_model(write):
    function = "def build():\n    return kg.model(mu)\n"
    assert refused(write(HEAD + function)).endswith(
        "; for a model function give its name, as in a.py:build"
    )
    script = 'if __name__ == "__main__":\n    model = kg.model(mu)\n'
    line = HEAD.count("\n") + 1
    assert f"`if __name__ == ...` (line {line}) is not run" in refused(write(HEAD + script))


def test_a_model_function_is_named(write):
    body = "    nu = kg.normal(mu, 1)\n    kg.observe(y, kg.normal(nu, 1))\n"
    file = write(HEAD + f"def build():\n{body}    return nu\n")
    model = load_model(file + ":build")
    assert (model.target_names, len(model.observed)) == (("nu",), 1)
    file = write(HEAD + f"def build():\n{body}    return missing\n", "b.py")
    assert refused(file + ":build") == "b.py:7: NameError: name 'missing' is not defined"
    file = write(HEAD + f"def build(sd):\n{body}    return nu\n", "c.py")
    assert "has arguments without a default: sd" in refused(file + ":build")


def test_files_that_are_none(write, tmp_path):
    (tmp_path / "folder.py").mkdir()
    assert refused("b.py") == "there is no file b.py"
    assert refused("b.py:model") == "there is no file b.py"
    assert refused("folder.py") == "folder.py is a folder, not a Python file"
    assert refused(write("1", "a.stan")).startswith("a.stan is not a Python file")


@pytest.mark.parametrize("text", ["x = 1\nx = = 3\n", "x = 1\nif x:\nx = 2\n"])
def test_a_syntax_error_names_its_line(write, text):
    assert refused(write(text)).startswith(f"a.py:{2 if '= =' in text else 3}: ")


def test_bytes_that_are_no_text(write, tmp_path):
    (tmp_path / "a.py").write_bytes(b"x = 1\0")
    assert refused("a.py").startswith("a.py")


def test_an_error_in_the_file_names_its_innermost_line(write):
    file = write("def f():\n    return missing\n\nf()\n")
    assert refused(file) == "a.py:2: NameError: name 'missing' is not defined"


def test_an_error_of_a_library_names_the_line_that_called_it(write):
    assert refused(write("import json\n\njson.loads('{')\n")).startswith("a.py:3: JSONDecodeError")


def test_an_error_of_ours_is_told_in_full(write):
    message = refused(write(HEAD + "kg.observe(y, kg.normal(kg.data([1.0, 2.0, 3.0]), 1))\n"))
    assert message.startswith("a.py:4: ShapeError: ")
    assert "(3,)" in message
    assert "(2,)" in message


def test_the_traceback_is_shown_on_demand(write, capsys):
    file = write("def f():\n    return missing\n\nf()\n")
    refused(file)
    assert capsys.readouterr().err == ""
    refused(file, show_traceback=True)
    text = capsys.readouterr().err
    assert text.startswith("Traceback")
    assert "line 4, in <module>\n    f()" in text
    assert "cli/models.py" not in text


def test_a_file_that_exits(write):
    assert refused(write("raise SystemExit(3)\n")) == (
        "a.py ended with exit code 3 instead of making a model"
    )


def test_a_file_is_no_script_and_may_import_its_neighbours(write):
    write("values = [1.0, 2.0]\n", "neighbour_of_a.py")
    text = (
        "import sys\nimport kinetograph as kg\nfrom neighbour_of_a import values\n"
        "mu = kg.normal(0, 1)\ny = kg.data(values)\nkg.observe(y, kg.normal(mu, 1))\n"
        "assert sys.argv == [__file__]\nmodel = kg.model(mu)\n"
        "if __name__ == '__main__':\n    raise AssertionError\n"
    )
    assert load_model(write(text)).names == ("mu",)


def test_a_colon_in_a_file_name(write):
    assert load_model(write(HEAD + OBSERVE + "model = kg.model(mu)\n", "a:b.py")).names == ("mu",)


def test_a_file_in_another_folder(write, tmp_path):
    (tmp_path / "sub").mkdir()
    write(HEAD + OBSERVE + "model = kg.model(mu)\n", os.path.join("sub", "a.py"))
    assert load_model("sub/a.py:model").free_size == 1
