from .children import Ended as Ended
from .group import ALONE as ALONE
from .group import Group as Group
from .joining import joined as joined
from .launching import launch as launch
from .ray_launching import launch_in_ray as launch_in_ray
from .spark_launching import launch_in_spark as launch_in_spark
